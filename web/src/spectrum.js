// Figure: histograms of the eigenvalues the trained layers really use, one panel for each run, one row for each layer.
import * as Plot from "@observablehq/plot";
import {h, table} from "./dom.js";
import {figure, note, panels, plot, section, tooltip} from "./figure.js";
import * as format from "./format.js";

function bars(layer) {
  const total = layer.counts.reduce((sum, n) => sum + n, 0) || 1;
  return layer.counts.map((n, i) => ({from: layer.edges[i], to: layer.edges[i + 1], share: n / total}));
}

function histogram(run, layer, width, last) {
  const data = bars(layer);
  return plot(
    `${run.display}, layer ${layer.layer}: histogram of eigenvalues, ${format.percent(layer.share_negative)} of them negative`,
    {
      width, height: last ? 104 : 80, marginTop: 18, marginBottom: last ? 30 : 6, marginLeft: 8, marginRight: 8,
      x: {domain: [-1, 1], label: null, ticks: last ? [-1, -0.5, 0, 0.5, 1] : [], tickSize: last ? 4 : 0, tickFormat: (x) => String(x).replace("-", "\u2212")},
      y: {type: "sqrt", axis: null, domain: [0, Math.max(...data.map((bar) => bar.share))]},
      marks: [
        Plot.rect([run.spectrum.range], {x1: (range) => range[0], x2: (range) => range[1], fill: "var(--shade)", ariaLabel: () => "declared range"}),
        Plot.rectY(data.filter((bar) => bar.share > 0), {x1: "from", x2: "to", y: "share", fill: run.color, inset: 0, className: "histogram"}),
        Plot.ruleX([0], {stroke: "var(--text)", strokeWidth: 1}),
        Plot.ruleY([0], {stroke: "var(--rule)"}),
        Plot.text([`layer ${layer.layer}`], {frameAnchor: "top-left", dy: -14, fill: "var(--muted)", fontSize: 11}),
        Plot.text([`${format.percent(layer.share_negative)} negative`], {frameAnchor: "top-right", dy: -14, fill: "var(--muted)", fontSize: 11}),
        tooltip(data.filter((bar) => bar.share > 0).map((bar) => ({
          x: (bar.from + bar.to) / 2, y: bar.share,
          text: `${bar.from.toFixed(2)} to ${bar.to.toFixed(2)}\n${format.percent(bar.share)} of the eigenvalues`
        })))
      ]
    }
  );
}

export function spectrum(report) {
  const runs = report.runs.filter((run) => run.spectrum);
  if (runs.length === 0) return section("spectrum", "Eigenvalues in use", note("No run has a spectrum yet (lrnn analyze RUN --spectrum)."));
  const items = runs.map((run) => ({
    title: run.display,
    color: run.color,
    draw: (width) => h("div", {}, run.spectrum.layers.map((layer, i, all) => histogram(run, layer, width, i + 1 === all.length)))
  }));
  const numbers = table(
    "Eigenvalues in use",
    [
      {name: "Model", head: true, value: ([run]) => run.display},
      {name: "Layer", number: true, value: ([, layer]) => String(layer.layer)},
      {name: "Smallest", number: true, value: ([, layer]) => format.accuracy(layer.min)},
      {name: "Largest", number: true, value: ([, layer]) => format.accuracy(layer.max)},
      {name: "Negative", number: true, value: ([, layer]) => format.percent(layer.share_negative)}
    ],
    runs.flatMap((run) => run.spectrum.layers.map((layer) => [run, layer]))
  );
  const missing = report.runs.filter((run) => !run.spectrum).map((run) => run.display);
  const tokens = [...new Set(runs.map((run) => run.spectrum.tokens))].map(format.count);
  const caption =
    `Eigenvalues of the state transitions on ${format.list(tokens)} tokens of the task. Shaded: the range the layer is built for; line: 0. ` +
    "Heights are on a square-root scale, so that rare values stay visible." +
    (missing.length ? ` No spectrum yet: ${format.list(missing)}.` : "");
  return section("spectrum", "Eigenvalues in use", figure(panels(150, items), caption, numbers));
}
