// The page of `lrnn reproduce` (format "lrnn.experiment"): an experiment of the paper, its numbers beside ours.
import {h} from "./dom.js";
import {configurations} from "./experiment_configurations.js";
import {experimentCost} from "./experiment_cost.js";
import {experimentCurves} from "./experiment_curves.js";
import {experimentFarther} from "./experiment_farther.js";
import {experimentLearning} from "./experiment_learning.js";
import {experimentTables} from "./experiment_tables.js";
import {note, section} from "./figure.js";
import * as format from "./format.js";
import {dressGroups} from "./series.js";
import {spectrum} from "./spectrum.js";

function state({runs, budget}) {
  const done = runs.done === runs.planned ? `${format.count(runs.done)} runs` : `${format.count(runs.done)} of ${format.count(runs.planned)} runs so far`;
  return `Budget \u201c${budget}\u201d: ${done}${runs.failed ? `, ${format.count(runs.failed)} failed` : ""}.` +
    (budget === "full" ? "" : " The paper trained longer; the numbers of this budget are not meant to equal its own.");
}

function failures(report) {
  if (report.failures.length === 0) return null;
  return section("failures", "Runs that failed", h("ul", {}, report.failures.map((failure) =>
    h("li", {}, h("code", {}, failure.run), `: ${failure.message} `, h("small", {}, `log: ${failure.log}`)))));
}

// The eigenvalues of all rows that have them, each named with its group.
function spectra(groups) {
  const runs = groups.flatMap((group) => group.rows.filter((row) => row.run?.spectrum).map((row) => ({
    ...row.run, display: groups.length > 1 ? `${group.title}: ${row.display}` : row.display
  })));
  return runs.length ? spectrum({runs}) : null;
}

export function experimentPage(data) {
  const report = {...data, groups: dressGroups(data.groups)};
  const notes = report.groups.filter((group) => group.note);
  return [
    h("header", {},
      h("h1", {}, format.ranges(report.title)),
      h("p", {class: "lede"}, format.ranges(report.summary)),
      h("p", {class: "claim"}, state(report))),
    experimentTables(report),
    notes.length ? section("claims", "What the paper says", notes.map((group) =>
      note(h("b", {}, `${group.title}. `), format.ranges(group.note)))) : null,
    experimentCurves(report),
    experimentLearning(report),
    experimentFarther(report),
    spectra(report.groups),
    experimentCost(report),
    failures(report),
    configurations(report)
  ].filter((part) => part !== null);
}
