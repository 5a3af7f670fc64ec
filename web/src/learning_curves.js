// Figure: training loss and validation accuracy by step, all runs together.
import * as Plot from "@observablehq/plot";
import {h, table} from "./dom.js";
import {accuracyAxis, figure, note, panels, plot, section, tooltip} from "./figure.js";
import * as format from "./format.js";
import {legend} from "./legend.js";

const steps = {label: "training step", labelAnchor: "center", labelArrow: "none", ticks: 5, tickSize: 4};

function line(run, points, y) {
  return Plot.lineY(points, {
    x: "step", y, stroke: run.color, strokeWidth: 1.75, strokeDasharray: run.dash, className: "curve", ariaLabel: () => run.display
  });
}

function lossPanel(runs, chance, width) {
  const guess = chance === null ? null : -Math.log(chance);
  const points = runs.flatMap((run) => run.learning.train.map((point) => ({run, ...point})));
  return plot("Training loss by step", {
    width, height: Math.min(270, Math.max(210, width * 0.6)), marginLeft: 40, marginRight: 14,
    x: steps,
    y: {domain: [0, Math.max(guess ?? 0, ...points.map((point) => point.loss)) * 1.08], label: null},
    marks: [
      Plot.axisY({ticks: 5, tickSize: 0, color: "var(--muted)", label: null}),
      Plot.gridY({ticks: 5, stroke: "var(--grid)", strokeOpacity: 1}),
      Plot.ruleY([0], {stroke: "var(--rule)"}),
      guess === null ? null : Plot.ruleY([guess], {stroke: "var(--muted)", strokeDasharray: "2 2"}),
      guess === null ? null : Plot.text([guess], {
        y: guess, text: () => "guessing", frameAnchor: "right", textAnchor: "end", dy: -7, fill: "var(--muted)", fontSize: 11
      }),
      runs.map((run) => line(run, run.learning.train, "loss")),
      tooltip(points.map(({run, step, loss}) => ({x: step, y: loss, text: `${run.display}\nstep ${format.count(step)}\nloss ${loss.toPrecision(3)}`})))
    ]
  });
}

function validationPanel(runs, width) {
  const points = runs.flatMap((run) => run.learning.validation.map((point) => ({run, ...point})));
  const axis = accuracyAxis(Math.min(...points.map((point) => point.low)));
  return plot("Scaled accuracy on the validation data by step", {
    width, height: Math.min(270, Math.max(210, width * 0.6)), marginLeft: 74, marginRight: 14,
    x: steps,
    y: axis.y,
    marks: [
      axis.marks,
      runs.map((run) => Plot.areaY(run.learning.validation, {x: "step", y1: "low", y2: "high", fill: run.color, fillOpacity: 0.14})),
      runs.map((run) => line(run, run.learning.validation, "scaled_accuracy")),
      tooltip(points.map(({run, step, scaled_accuracy, low, high}) => ({
        x: step, y: scaled_accuracy,
        text: `${run.display}\nstep ${format.count(step)}\nscaled accuracy ${format.accuracy(scaled_accuracy)}\n95 % interval ${format.interval(low, high)}`
      })))
    ]
  });
}

export function learningCurves(report) {
  const trained = report.runs.filter((run) => run.learning.train.length);
  const validated = report.runs.filter((run) => run.learning.validation.length);
  const items = [];
  if (trained.length) items.push({title: "Training loss", draw: (width) => lossPanel(trained, report.chance, width)});
  if (validated.length) items.push({title: "Validation accuracy", draw: (width) => validationPanel(validated, width)});
  if (items.length === 0) return section("learning", "Learning curves", note("No run has logged any metrics."));
  const numbers = table(
    "Validation accuracy by step",
    [
      {name: "Model", head: true, value: ([run]) => run.display},
      {name: "Step", number: true, value: ([, point]) => format.count(point.step)},
      {name: "Scaled accuracy", number: true, value: ([, point]) => format.accuracy(point.scaled_accuracy)},
      {name: "95 % interval", number: true, value: ([, point]) => format.interval(point.low, point.high)}
    ],
    validated.flatMap((run) => run.learning.validation.map((point) => [run, point]))
  );
  const caption =
    "Cross-entropy on the training data, and scaled accuracy on the validation data with 95 % intervals.";
  return section(
    "learning",
    "Learning curves",
    figure(h("div", {}, legend(report.runs), panels(300, items)), caption, validated.length ? numbers : null)
  );
}
