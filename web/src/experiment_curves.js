// Figures: score by length, ours over the authors', one panel for each kind of model of a task.
import * as Plot from "@observablehq/plot";
import {h, table} from "./dom.js";
import {accuracyAxis, figure, note, panels, plot, section, tooltip, trainingLengths} from "./figure.js";
import * as format from "./format.js";
import {legend} from "./legend.js";
import {smooth} from "./series.js";

const points = (row) => row.run.by_length.bins.map((bin) => ({...bin, x: (bin.from + bin.to) / 2, y: bin.scaled_accuracy}));
const theirs = (row) => smooth(row.paper.curve.map(([x, y]) => ({x, y})), 4);

function marks(row) {
  const ours = points(row);
  return [
    row.paper.curve.length ? Plot.dot(row.paper.curve, {x: (point) => point[0], y: (point) => point[1], r: 1, fill: row.color, fillOpacity: 0.22, clip: true}) : null,
    row.paper.curve.length ? Plot.lineY(theirs(row), {
      x: "x", y: "y", stroke: row.color, strokeWidth: 1.4, strokeOpacity: row.dash ? 0.6 : 1, strokeDasharray: "1.5 3", className: "paper", ariaLabel: () => `${row.display}, the authors'`
    }) : null,
    Plot.areaY(ours, {x: "x", y1: "low", y2: "high", fill: row.color, fillOpacity: 0.16}),
    Plot.lineY(ours, {
      x: "x", y: "y", stroke: row.color, strokeWidth: row.width, strokeDasharray: row.dash, className: "curve", ariaLabel: () => row.display
    })
  ];
}

const describe = (row, bin) =>
  `${row.display}\n${bin.from === bin.to ? "length" : "lengths"} ${format.lengths([bin.from, bin.to])}\nours ${format.accuracy(bin.scaled_accuracy)}` +
  `\n95 % interval ${format.interval(bin.low, bin.high)}`;

function panel(report, group, kind, rows, longest, lowest) {
  const scaled = report.score === "scaled_accuracy";
  return {
    title: rows.length === 1 ? rows[0].display : kind,
    color: rows[0].color,
    draw(width) {
      const axis = accuracyAxis(lowest, scaled);
      const chart = plot(`${group.title}, ${kind}: ${scaled ? "scaled accuracy" : "share of right sequences"} by length`, {
        width, height: Math.min(280, Math.max(210, width * 0.58)), marginLeft: scaled ? 74 : 40, marginRight: 12,
        x: {domain: [0, longest], label: "sequence length", labelAnchor: "center", labelArrow: "none", ticks: 5, tickSize: 4},
        y: axis.y,
        marks: [
          trainingLengths(group.train_lengths),
          axis.marks,
          rows.map(marks),
          tooltip(rows.flatMap((row) => points(row).map((bin) => ({x: bin.x, y: bin.y, text: describe(row, bin)}))))
        ]
      });
      return rows.length === 1 ? chart : h("div", {}, legend(rows), chart);
    }
  };
}

function groupFigure(report, group) {
  const rows = group.rows.filter((row) => row.run?.by_length);
  const title = report.groups.length > 1 ? h("h3", {class: "group"}, group.title) : null;
  if (rows.length === 0) return h("div", {class: "task"}, title, note("No run of this task has been evaluated yet."));
  const longest = Math.max(...rows.map((row) => row.run.by_length.lengths[1]));
  const lowest = Math.min(...rows.flatMap((row) => points(row).map((point) => point.low)));
  const numbers = table(
    `${group.title}: score by length`,
    [
      {name: "Model", head: true, value: ([row]) => row.display},
      {name: "Lengths", number: true, value: ([, bin]) => format.lengths([bin.from, bin.to])},
      {name: "Sequences", number: true, value: ([, bin]) => format.count(bin.sequences)},
      {name: "Ours", number: true, value: ([, bin]) => format.accuracy(bin.scaled_accuracy)},
      {name: "95 % interval", number: true, value: ([, bin]) => format.interval(bin.low, bin.high)}
    ],
    rows.flatMap((row) => row.run.by_length.bins.map((bin) => [row, bin]))
  );
  const missing = group.rows.filter((row) => !row.run?.by_length).map((row) => row.display);
  const caption =
    `${group.title}${report.score === "scaled_accuracy" ? ": scaled accuracy by length" : ": share of sequences that are right up to a length"}. ` +
    "Wide lines: ours, the best seed, with 95 % Wilson intervals; solid where eigenvalues may be negative, dashed where not. Shaded: the lengths of training." +
    (rows.some((row) => row.paper.curve.length) ? " Dotted: the authors' (mean of lengths within 4, paler for eigenvalues that may not be negative; their single lengths as dots)." : "") +
    (missing.length ? ` Not evaluated yet: ${format.list(missing)}.` : "");
  const items = [...new Set(rows.map((row) => row.kind))].map((kind) => panel(report, group, kind, rows.filter((row) => row.kind === kind), longest, lowest));
  return h("div", {class: "task"}, title, figure(panels(340, items), caption, numbers));
}

export function experimentCurves(report) {
  return section("by-length", "By length", report.groups.map((group) => groupFigure(report, group)));
}
