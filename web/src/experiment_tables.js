// Tables laid out like the paper's: a row for each model, a column for each task, ours with the paper's below.
import {h, table} from "./dom.js";
import * as format from "./format.js";

const none = (text) => h("span", {class: "none"}, text);
const below = (text) => h("small", {}, text);

// The labels of all groups in order, each once.
const labels = (groups) => [...new Map(groups.flatMap((group) => group.rows).map((row) => [row.label, row])).values()];

// The best seed with the chosen learning rate, its interval, and a bar from 0 to 1.
function best(row) {
  if (!row) return none("\u2013");
  const paper = row.paper.best === null ? null : below(`paper ${format.accuracy(row.paper.best)}`);
  if (row.best === null) return h("div", {class: "score"}, none("not yet"), paper);
  const seed = row.rates.find((rate) => rate.learning_rate === row.learning_rate).runs.find((run) => run.score === row.best);
  const share = Math.min(1, Math.max(0, row.best));
  return h("div", {class: "score"},
    h("b", {}, format.accuracy(row.best)),
    below(format.interval(seed.low, seed.high)),
    paper,
    h("span", {class: "bar", style: `--value: ${share}; --color: ${row.color}`, "aria-hidden": "true"}));
}

const spreadOf = (numbers) => `${format.accuracy(numbers.median)} \u00b1 ${format.accuracy(numbers.mad ?? 0)}`;

function median(row) {
  if (!row) return none("\u2013");
  const ours = row.median === null ? none("not yet") : row.seeds === 1 ? [format.accuracy(row.median), below("1 seed")]
    : [h("b", {}, spreadOf(row)), below(`${row.seeds} seeds`)];
  return h("div", {}, ours, row.paper.median === null ? null : below(`paper ${spreadOf(row.paper)}`));
}

const columns = (groups, cell) => [
  {name: "Model", head: true, value: (row) => row.display},
  ...groups.map((group) => ({
    name: group.title, number: true, value: (row) => cell(group.rows.find((other) => other.label === row.label))
  }))
];

export function experimentTables(report) {
  const {groups} = report;
  const scaled = report.score === "scaled_accuracy";
  const what = `${scaled ? "Scaled accuracy (1 is perfect, 0 is guessing)" : "Share of sequences with every prediction right"} at ` +
    `${report.lengths[0] === report.lengths[1] ? "length" : "lengths"} ${format.lengths(report.lengths)}`;
  const rows = labels(groups);
  const all = groups.flatMap((group) => group.rows);
  const tables = [table(
    `${what}: the best of our seeds with its 95\u00a0% interval. Of several learning rates the one with the highest median counts. Paper: ${report.paper}.`,
    columns(groups, best), rows
  )];
  if (all.some((row) => row.paper.median !== null || row.seeds > 1)) {
    tables.push(table(`${what}: median and median absolute deviation of the seeds.`, columns(groups, median), rows));
  }
  return h("section", {id: "results", "aria-label": "Results"}, tables);
}
