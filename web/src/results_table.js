// The table of results, laid out like Table 3 of the paper, with the paper's numbers beside ours.
import {h, table} from "./dom.js";
import * as format from "./format.js";

const none = () => h("span", {class: "none"}, "not tested");

// The number, its interval and a bar from 0 to 1; the lengths too where they differ between the runs.
function score(run, result, names_lengths = false) {
  if (!result) return none();
  const value = Math.min(1, Math.max(0, result.scaled_accuracy));
  return h(
    "div",
    {class: "score"},
    h("b", {}, format.accuracy(result.scaled_accuracy)),
    h("small", {}, format.interval(result.low, result.high)),
    names_lengths ? h("small", {}, `at ${format.lengths(result.lengths)}`) : null,
    h("span", {class: "bar", style: `--value: ${value}; --color: ${run.color}`, "aria-hidden": "true"})
  );
}

const stateNote = (run) =>
  run.train.state === "complete"
    ? null
    : h("small", {class: "state"}, `${run.train.state} at step ${format.count(run.train.step)} of ${format.count(run.train.steps)}`);

export function resultsTable(report) {
  const tested = [...new Set(report.runs.filter((run) => run.by_length).map((run) => format.lengths(run.by_length.lengths)))];
  const longs = [...new Set(report.runs.flatMap((run) => run.long.map((test) => test.length)))].sort((a, b) => a - b);
  const sources = [...new Set(report.runs.filter((run) => run.reference).map((run) => run.reference.source))];
  const columns = [
    {name: "Model", head: true, value: (run) => h("div", {}, run.display, stateNote(run))},
    {name: "Parameters", number: true, optional: true, value: (run) => format.count(run.train.parameters)},
    {name: tested.length === 1 ? `${tested[0]} tokens` : "Tested lengths", number: true, value: (run) => score(run, run.by_length, tested.length > 1)}
  ];
  if (sources.length) {
    columns.push({
      name: "Paper", number: true,
      value: (run) => (run.reference ? format.accuracy(run.reference.scaled_accuracy) : h("span", {class: "none"}, "\u2013"))
    });
  }
  for (const length of longs) {
    columns.push({
      name: `${format.count(length)} tokens`, number: true,
      value: (run) => score(run, run.long.find((test) => test.length === length))
    });
  }
  const caption =
    "Scaled accuracy (1 is perfect, 0 is guessing) with its 95 % interval." + (sources.length ? ` Paper: ${sources.join("; ")}.` : "");
  return h("section", {id: "results", "aria-label": "Results"}, table(caption, columns, report.runs));
}
