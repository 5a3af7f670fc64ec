// The report page: reads the report that lrnn put into the document (format "lrnn.report") and draws it.
import {accuracyByLength} from "./accuracy_by_length.js";
import {cost} from "./cost.js";
import {h} from "./dom.js";
import {drawPanels} from "./figure.js";
import * as format from "./format.js";
import {learningCurves} from "./learning_curves.js";
import {longTest} from "./long_test.js";
import {reproduce} from "./reproduce.js";
import {resultsTable} from "./results_table.js";
import {dress} from "./series.js";
import {spectrum} from "./spectrum.js";

const report = JSON.parse(document.getElementById("lrnn-report").textContent);
report.runs = dress(report.runs).map((run) => ({...run, display: run.label.replace(run.eigenvalues, format.range(run.range))}));

// What the paper says about a task, as the background of the numbers.
const claims = {
  parity:
    "The paper proves that linear RNNs of finite precision whose eigenvalues lie in [0, 1] cannot solve parity at all lengths " +
    "(Theorem 1); the range [-1, 1] lifts this limit."
};
const claim = claims[report.task];
const pretty = (text) => text.replace(/\[-?[\d.]+, -?[\d.]+\]/g, (range) => format.range(JSON.parse(range)));

document.querySelector("main").replaceChildren(
  h("header", {}, h("h1", {}, pretty(report.title)), h("p", {class: "lede"}, pretty(report.summary)),
    claim ? h("p", {class: "claim"}, pretty(claim)) : null),
  resultsTable(report),
  accuracyByLength(report),
  longTest(report),
  spectrum(report),
  learningCurves(report),
  cost(report),
  reproduce(report),
  h("footer", {}, h("p", {}, `Trained with lrnn ${report.lrnn_version}. Paper: Grazzi, Siems, Zela, Franke, Hutter, Pontil, `,
    h("cite", {}, "Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues"), ", ICLR 2025."))
);
drawPanels();
