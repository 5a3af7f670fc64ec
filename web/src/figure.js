// What the figures share: a section with heading, panels, caption and the numbers as a table; redrawing when the width changes.
import * as Plot from "@observablehq/plot";
import {h} from "./dom.js";

const redraws = [];

// Sections: `numbers` is a table element for readers who cannot or do not want to read the chart.
export function section(id, title, ...children) {
  return h("section", {id, "aria-labelledby": `${id}-title`}, h("h2", {id: `${id}-title`}, title), children);
}

export function figure(body, caption, numbers) {
  return h(
    "figure",
    {},
    body,
    h("figcaption", {}, caption),
    numbers ? h("details", {}, h("summary", {}, "The numbers of this figure"), numbers) : null
  );
}

export const note = (...text) => h("p", {class: "note"}, ...text);

// A grid of panels, each at least `minimum` pixels wide where the screen allows: {title, color, draw(width) -> element}.
export function panels(minimum, items) {
  const cells = items.map((item) => {
    const plot = h("div", {class: "plot"});
    const heading = item.title ? h("h3", {style: item.color ? `color: ${item.color}` : null}, item.title) : null;
    let drawn = 0;
    redraws.push(() => {
      const width = plot.clientWidth;
      if (width === 0 || width === drawn) return;
      drawn = width;
      plot.replaceChildren(item.draw(width));
    });
    return h("div", {class: "panel"}, heading, plot);
  });
  return h("div", {class: "panels", style: `--minimum: ${minimum}px`}, cells);
}

// Draws all panels of the document now and whenever the window changes its width.
export function drawPanels() {
  const redraw = () => redraws.forEach((draw) => draw());
  redraw();
  let frame = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(redraw);
  });
}

export function plot(description, options) {
  const svg = Plot.plot({marginTop: 22, marginBottom: 38, style: {fontSize: "12px"}, ariaLabel: description, ...options});
  svg.setAttribute("role", "img");
  return svg;
}

// The vertical axis of scaled accuracy: chance and perfect are named, and have a line across the panel. Where the score is not
// scaled, 0 is not chance.
export function accuracyAxis(lowest, isScaled = true) {
  const names = new Map([[0, isScaled ? "chance 0" : "0"], [1, isScaled ? "perfect 1" : "all 1"]]);
  return {
    y: {domain: [Math.min(-0.12, lowest - 0.03), 1.06], label: null},
    marks: [
      Plot.axisY({ticks: [0, 0.25, 0.5, 0.75, 1], tickSize: 0, tickFormat: (y) => names.get(y) ?? String(y), color: "var(--muted)", label: null}),
      Plot.ruleY([0.25, 0.5, 0.75], {stroke: "var(--grid)"}),
      Plot.ruleY([0, 1], {stroke: "var(--rule)"})
    ]
  };
}

// The lengths a model was trained on, as a shaded part of the horizontal axis.
export function trainingLengths([low, high]) {
  return [
    Plot.rect([{low, high}], {x1: "low", x2: "high", fill: "var(--shade)", ariaLabel: () => "training lengths"}),
    Plot.ruleX([high], {stroke: "var(--muted)", strokeDasharray: "2 2"}),
    Plot.text(["trained"], {x: high, frameAnchor: "top", textAnchor: "end", dx: -4, dy: -13, fill: "var(--muted)", fontSize: 11})
  ];
}

// The union of the training lengths of several runs.
export function trainedOn(runs) {
  return [Math.min(...runs.map((run) => run.train_lengths[0])), Math.max(...runs.map((run) => run.train_lengths[1]))];
}

// A tool tip at the point nearest to the pointer. points: [{x, y, text}]
export function tooltip(points) {
  return Plot.tip(
    points,
    Plot.pointer({x: "x", y: "y", title: "text", fill: "var(--surface)", stroke: "var(--rule)", fontSize: 12, lineHeight: 1.3})
  );
}
