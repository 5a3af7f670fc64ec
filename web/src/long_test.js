// Figure and table: tests at one length far beyond training, on a logarithmic axis together with the curves by length.
import * as Plot from "@observablehq/plot";
import {band, curve, rangeLabels} from "./accuracy_by_length.js";
import {h, table} from "./dom.js";
import {accuracyAxis, figure, note, panels, plot, section, tooltip, trainedOn, trainingLengths} from "./figure.js";
import * as format from "./format.js";
import {byLayer} from "./series.js";

const describe = (run, test) =>
  `${run.display}\n${format.count(test.length)} tokens\nscaled accuracy ${format.accuracy(test.scaled_accuracy)}` +
  `\n95 % interval ${format.interval(test.low, test.high)}\n${format.count(test.sequences)} sequences`;

function marks(run) {
  const points = run.by_length ? curve(run) : [];
  const tests = run.long.map((test) => ({...test, x: test.length, y: test.scaled_accuracy}));
  const way = [...points.slice(-1), ...tests];
  return [
    points.length ? band(run, points) : null,
    Plot.lineY(way, {x: "x", y: "y", stroke: run.color, strokeWidth: 1, strokeDasharray: "1 3"}),
    Plot.ruleX(tests, {x: "x", y1: "low", y2: "high", stroke: run.color, strokeWidth: 2}),
    Plot.dot(tests, {
      x: "x", y: "y", r: 4.5, stroke: run.color, strokeWidth: 2, fill: run.solid ? run.color : "var(--surface)", className: "test"
    })
  ];
}

export function longTest(report) {
  const runs = report.runs.filter((run) => run.long.length);
  const title = "Far beyond training";
  if (runs.length === 0) return section("long", title, note("No run was tested at a length of its own yet (lrnn eval RUN --lengths 100000:100000)."));
  const longest = Math.max(...runs.flatMap((run) => run.long.map((test) => test.length)));
  const lowest = Math.min(...runs.flatMap((run) => [...run.long, ...(run.by_length?.bins ?? [])].map((point) => point.low)));
  const items = byLayer(runs).map((group) => ({
    title: group.name,
    color: group.color,
    draw(width) {
      const axis = accuracyAxis(lowest);
      const trained = trainedOn(group.runs);
      return plot(`${group.name}: scaled accuracy at up to ${format.count(longest)} tokens`, {
        width, height: Math.min(270, Math.max(210, width * 0.58)), marginLeft: 74, marginRight: 58,
        x: {
          type: "log", domain: [Math.max(1, trained[0]), longest], label: "sequence length in tokens, logarithmic", labelAnchor: "center",
          labelArrow: "none", tickSize: 4, ticks: [10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((x) => x <= longest),
          tickFormat: (x) => (x >= 1e6 ? `${x / 1e6}M` : x >= 1e3 ? `${x / 1e3}k` : String(x))
        },
        y: axis.y,
        marks: [
          trainingLengths(trained),
          axis.marks,
          group.runs.map(marks),
          rangeLabels(group.runs, (run) => {
            const last = run.long[run.long.length - 1];
            return {x: last.length, y: last.scaled_accuracy};
          }, axis.y.domain),
          tooltip(group.runs.flatMap((run) => run.long.map((test) => ({x: test.length, y: test.scaled_accuracy, text: describe(run, test)}))))
        ]
      });
    }
  }));
  const numbers = table(
    "Tests at one length",
    [
      {name: "Model", head: true, value: ([run]) => run.display},
      {name: "Tokens", number: true, value: ([, test]) => format.count(test.length)},
      {name: "Sequences", number: true, value: ([, test]) => format.count(test.sequences)},
      {name: "Scaled accuracy", number: true, value: ([, test]) => format.accuracy(test.scaled_accuracy)},
      {name: "95 % interval", number: true, value: ([, test]) => format.interval(test.low, test.high)},
      {name: "Tokens/s", number: true, value: ([, test]) => format.rate(test.tokens / test.seconds)}
    ],
    runs.flatMap((run) => run.long.map((test) => [run, test]))
  );
  const factor = longest / Math.max(...runs.map((run) => run.train_lengths[1]));
  const streamed = runs.some((run) => run.long.some((test) => test.streamed));
  const missing = report.runs.filter((run) => !run.long.length).map((run) => run.display);
  const caption =
    `The same models at ${format.count(longest)} tokens, ${format.count(factor)} times the longest training sequence` +
    `${streamed ? ", read token by token with a state of constant size" : ""}. Dots: tests at one length, with 95 % intervals; ` +
    "lines: the lengths of the figure above." +
    (missing.length ? ` Not tested yet: ${format.list(missing)}.` : "");
  return section("long", title, figure(panels(300, items), caption, numbers));
}
