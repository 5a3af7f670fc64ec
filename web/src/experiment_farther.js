// Table: the horizon of the models, and their accuracy with linear layers in bf16, where they were measured.
import {table} from "./dom.js";
import {section} from "./figure.js";
import * as format from "./format.js";

function horizon({horizon}) {
  if (!horizon) return "\u2013";
  if (horizon.length === 0) return "none";
  return horizon.has_ended ? format.count(horizon.length) : `${format.count(horizon.length)} or more`;
}

export function experimentFarther(report) {
  const rows = report.groups.flatMap((group) => group.rows.filter((row) => row.run && (row.run.horizon || row.run.bf16)).map((row) => ({group, ...row})));
  if (rows.length === 0) return null;
  const columns = [{name: "Model", head: true, value: (row) => (report.groups.length > 1 ? `${row.group.title}: ${row.display}` : row.display)}];
  if (rows.some((row) => row.run.horizon)) columns.push({name: "Horizon", number: true, value: (row) => horizon(row.run)});
  const pairs = rows.filter((row) => row.run.bf16 && row.run.by_length);
  if (pairs.length) {
    const lengths = format.lengths(pairs[0].run.bf16.lengths);
    const score = (part) => (part ? format.accuracy(part.scaled_accuracy) : "\u2013");
    columns.push({name: `${lengths} in fp32`, number: true, value: (row) => score(row.run.by_length)});
    columns.push({name: `${lengths} in bf16`, number: true, value: (row) => score(row.run.bf16)});
  }
  const bound = rows.find((row) => row.run.horizon)?.run.horizon.accuracy;
  const caption = (bound ? `Horizon: the longest length at which the accuracy stays at ${bound} or more. ` : "") +
    (pairs.length ? "bf16: linear layers rounded as the authors' autocast does." : "");
  return section("farther", bound ? "Horizon and precision" : "Precision", table(caption, columns, rows));
}
