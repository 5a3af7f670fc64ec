// Table: what the runs cost, and on which machine.
import {table} from "./dom.js";
import {section} from "./figure.js";
import * as format from "./format.js";

export function cost(report) {
  const machines = [...new Set(report.runs.map((run) => {
    const {cpu, threads} = run.train.hardware;
    return `${cpu}, ${threads} ${threads === 1 ? "thread" : "threads"}`;
  }))];
  const finished = report.runs.every((run) => run.train.state === "complete");
  const numbers = table(
    `Training. Hardware: ${machines.join("; ")}.`,
    [
      {name: "Model", head: true, value: (run) => run.display},
      ...(finished ? [] : [{name: "State", value: (run) => run.train.state}]),
      {name: "Wall time", number: true, value: (run) => format.duration(run.train.seconds)},
      {name: "Tokens/s", number: true, value: (run) => format.rate(run.train.tokens_per_second)},
      {name: "Tokens", number: true, optional: true, value: (run) => format.count(run.train.tokens)},
      {name: "Steps \u00d7 batch", number: true, optional: true, value: (run) => `${format.count(run.train.step)} \u00d7 ${format.count(run.train.batch_size)}`},
      {name: "Parameters", number: true, value: (run) => format.count(run.train.parameters)}
    ],
    report.runs
  );
  return section("cost", "Cost", numbers);
}
