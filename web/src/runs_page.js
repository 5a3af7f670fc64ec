// The page of `lrnn report` (format "lrnn.report"): some runs of one task.
import {accuracyByLength} from "./accuracy_by_length.js";
import {cost} from "./cost.js";
import {h} from "./dom.js";
import * as format from "./format.js";
import {learningCurves} from "./learning_curves.js";
import {longTest} from "./long_test.js";
import {reproduce} from "./reproduce.js";
import {resultsTable} from "./results_table.js";
import {dress} from "./series.js";
import {spectrum} from "./spectrum.js";

// What the paper says about a task, as the background of the numbers.
const claims = {
  parity:
    "The paper proves that linear RNNs of finite precision whose eigenvalues lie in [0, 1] cannot solve parity at all lengths " +
    "(Theorem 1); the range [-1, 1] lifts this limit."
};

export function runsPage(data) {
  const report = {...data, runs: dress(data.runs).map((run) => ({...run, display: format.ranges(run.label)}))};
  const claim = claims[report.task];
  return [
    h("header", {}, h("h1", {}, format.ranges(report.title)), h("p", {class: "lede"}, format.ranges(report.summary)),
      claim ? h("p", {class: "claim"}, format.ranges(claim)) : null),
    resultsTable(report),
    accuracyByLength(report),
    longTest(report),
    spectrum(report),
    learningCurves(report),
    cost(report),
    reproduce(report)
  ];
}
