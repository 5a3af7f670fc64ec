// Table: what the runs of an experiment cost, and on which machine.
import {table} from "./dom.js";
import {note, section} from "./figure.js";
import * as format from "./format.js";

export function experimentCost(report) {
  const rows = report.groups.flatMap((group) => group.rows.filter((row) => row.run).map((row) => ({group, ...row})));
  if (rows.length === 0) return section("cost", "Cost", note("No run is done yet."));
  const machines = [...new Set(rows.map((row) => {
    const {cpu, threads} = row.run.train.hardware;
    return `${cpu}, ${threads} ${threads === 1 ? "thread" : "threads"} a run`;
  }))];
  const total = rows.reduce((sum, row) => sum + row.cost.seconds, 0);
  return section("cost", "Cost", table(
    `Training: ${format.duration(total)} of computing for all rows together. Hardware: ${machines.join("; ")}.`,
    [
      {name: "Model", head: true, value: (row) => (report.groups.length > 1 ? `${row.group.title}: ${row.display}` : row.display)},
      {name: "Wall time", number: true, value: (row) => format.duration(row.cost.seconds)},
      {name: "Tokens/s", number: true, value: (row) => format.rate(row.cost.tokens_per_second)},
      {name: "Runs", number: true, optional: true, value: (row) => format.count(row.cost.runs)},
      {name: "Steps \u00d7 batch", number: true, optional: true, value: (row) => `${format.count(row.run.train.step)} \u00d7 ${format.count(row.run.train.batch_size)}`},
      {name: "Learning rate", number: true, optional: true, value: (row) => String(row.learning_rate)},
      {name: "Parameters", number: true, optional: true, value: (row) => format.count(row.run.train.parameters)}
    ],
    rows
  ));
}
