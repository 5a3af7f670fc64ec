// Figure: validation by step, mean and standard deviation of the seeds, a panel for each task.
import * as Plot from "@observablehq/plot";
import {h, table} from "./dom.js";
import {accuracyAxis, figure, panels, plot, section, tooltip} from "./figure.js";
import * as format from "./format.js";
import {legend} from "./legend.js";

function panel(report, group, rows) {
  const scaled = report.score === "scaled_accuracy";
  const points = rows.flatMap((row) => row.learning.map((point) => ({row, ...point, low: point.mean - point.deviation, high: point.mean + point.deviation})));
  return {
    title: report.groups.length > 1 ? group.title : null,
    draw(width) {
      const axis = accuracyAxis(Math.min(...points.map((point) => point.low)), scaled);
      return plot(`${group.title}: validation by training step`, {
        width, height: Math.min(290, Math.max(220, width * 0.62)), marginLeft: scaled ? 74 : 58, marginRight: 16,
        x: {label: "training step", labelAnchor: "center", labelArrow: "none", ticks: 5, tickSize: 4},
        y: axis.y,
        marks: [
          axis.marks,
          rows.map((row) => [
            Plot.areaY(points.filter((point) => point.row === row), {x: "step", y1: "low", y2: "high", fill: row.color, fillOpacity: 0.14}),
            Plot.lineY(row.learning, {
              x: "step", y: "mean", stroke: row.color, strokeWidth: row.width, strokeDasharray: row.dash, className: "curve", ariaLabel: () => row.display
            }),
            // One validation is no line yet.
            row.learning.length === 1 ? Plot.dot(row.learning, {x: "step", y: "mean", r: 3, fill: row.color}) : null
          ]),
          tooltip(points.map(({row, step, mean, deviation}) => ({
            x: step, y: mean,
            text: `${row.display}\nstep ${format.count(step)}\nmean ${format.accuracy(mean)}\nstandard deviation ${deviation.toFixed(3)}\n${row.seeds} ${row.seeds === 1 ? "seed" : "seeds"}`
          })))
        ]
      });
    }
  };
}

export function experimentLearning(report) {
  const groups = report.groups.map((group) => [group, group.rows.filter((row) => row.learning.length)]).filter(([, rows]) => rows.length);
  if (groups.length === 0) return null;
  const shown = new Map(groups.flatMap(([, rows]) => rows).map((row) => [row.label, row]));
  const numbers = table(
    "Validation by step",
    [
      {name: "Model", head: true, value: ([group, row]) => (report.groups.length > 1 ? `${group.title}: ${row.display}` : row.display)},
      {name: "Step", number: true, value: ([, , point]) => format.count(point.step)},
      {name: "Mean", number: true, value: ([, , point]) => format.accuracy(point.mean)},
      {name: "Standard deviation", number: true, value: ([, , point]) => point.deviation.toFixed(3)}
    ],
    groups.flatMap(([group, rows]) => rows.flatMap((row) => row.learning.map((point) => [group, row, point])))
  );
  const caption = "Validation while training, on lengths beyond those of training: mean of the seeds with the chosen learning rate; bands: standard deviation.";
  return section("learning", "While training",
    figure(h("div", {}, legend([...shown.values()]), panels(340, groups.map(([group, rows]) => panel(report, group, rows)))), caption, numbers));
}
