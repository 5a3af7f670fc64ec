// Figure: scaled accuracy by sequence length, one panel for each layer type, with 95 % bands.
import * as Plot from "@observablehq/plot";
import {table} from "./dom.js";
import {accuracyAxis, figure, note, panels, plot, section, tooltip, trainedOn, trainingLengths} from "./figure.js";
import * as format from "./format.js";
import {byLayer, spread} from "./series.js";

// A bin of neighbouring lengths is drawn at its middle.
export const curve = (run) => run.by_length.bins.map((bin) => ({...bin, x: (bin.from + bin.to) / 2, y: bin.scaled_accuracy}));

export function band(run, points) {
  return [
    Plot.areaY(points, {x: "x", y1: "low", y2: "high", fill: run.color, fillOpacity: 0.16}),
    Plot.lineY(points, {
      x: "x", y: "y", stroke: run.color, strokeWidth: 2, strokeDasharray: run.dash, className: "curve", ariaLabel: () => run.display
    })
  ];
}

// The range beside the end of its curve; runs with the same range share a label.
export function rangeLabels(runs, at, [bottom, top]) {
  const ends = new Map();
  for (const run of runs) {
    const key = run.range ? format.range(run.range) : "";
    ends.set(key, [...(ends.get(key) ?? []), at(run)]);
  }
  const labels = [...ends].map(([text, points]) => ({
    text, x: Math.max(...points.map((point) => point.x)), y: points.reduce((sum, point) => sum + point.y, 0) / points.length
  }));
  return Plot.text(spread(labels, 0.08 * (top - bottom)), {
    x: "x", y: "y", text: "text", textAnchor: "start", dx: 8, fill: runs[0].color, fontWeight: 600
  });
}

const describe = (run, bin) =>
  `${run.display}\nlengths ${format.lengths([bin.from, bin.to])}\nscaled accuracy ${format.accuracy(bin.scaled_accuracy)}` +
  `\n95 % interval ${format.interval(bin.low, bin.high)}\n${format.count(bin.correct)} of ${format.count(bin.sequences)} right`;

export function accuracyByLength(report) {
  const runs = report.runs.filter((run) => run.by_length);
  if (runs.length === 0) return section("by-length", "Accuracy by length", note("No run was evaluated over a range of lengths."));
  const curves = new Map(runs.map((run) => [run, curve(run)]));
  const lowest = Math.min(...[...curves.values()].flat().map((point) => point.low));
  const longest = Math.max(...runs.map((run) => run.by_length.lengths[1]));
  const items = byLayer(runs).map((group) => ({
    title: group.name,
    color: group.color,
    draw(width) {
      const axis = accuracyAxis(lowest);
      return plot(`${group.name}: scaled accuracy by sequence length`, {
        width, height: Math.min(290, Math.max(220, width * 0.62)), marginLeft: 74, marginRight: 54,
        x: {domain: [0, longest], label: "sequence length in tokens", labelAnchor: "center", labelArrow: "none", ticks: 5, tickSize: 4},
        y: axis.y,
        marks: [
          trainingLengths(trainedOn(group.runs)),
          axis.marks,
          group.runs.map((run) => band(run, curves.get(run))),
          rangeLabels(group.runs, (run) => curves.get(run)[curves.get(run).length - 1], axis.y.domain),
          tooltip(group.runs.flatMap((run) => curves.get(run).map((bin) => ({x: bin.x, y: bin.y, text: describe(run, bin)}))))
        ]
      });
    }
  }));
  const numbers = table(
    "Scaled accuracy by sequence length",
    [
      {name: "Model", head: true, value: ([run]) => run.display},
      {name: "Lengths", number: true, value: ([, bin]) => format.lengths([bin.from, bin.to])},
      {name: "Sequences", number: true, value: ([, bin]) => format.count(bin.sequences)},
      {name: "Scaled accuracy", number: true, value: ([, bin]) => format.accuracy(bin.scaled_accuracy)},
      {name: "95 % interval", number: true, value: ([, bin]) => format.interval(bin.low, bin.high)}
    ],
    runs.flatMap((run) => run.by_length.bins.map((bin) => [run, bin]))
  );
  const missing = report.runs.filter((run) => !run.by_length).map((run) => run.display);
  const caption =
    "Scaled accuracy by length: 1 is perfect, 0 is guessing; shaded: the lengths of training. " +
    "Solid lines: the eigenvalues may be negative; dashed lines: they may not. Neighbouring lengths are pooled; bands are 95 % Wilson intervals." +
    (missing.length ? ` Not evaluated yet: ${format.list(missing)}.` : "");
  return section("by-length", "Accuracy by length", figure(panels(300, items), caption, numbers));
}
