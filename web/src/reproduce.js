// The commands that make this page again, and the configurations they read.
import {h} from "./dom.js";
import {note, section} from "./figure.js";

export function reproduce(report) {
  return section(
    "reproduce",
    "How to reproduce",
    h("pre", {tabindex: "0", "aria-label": "Commands"}, h("code", {}, report.commands.join("\n"))),
    note("The configurations:"),
    report.runs.map((run) =>
      h("details", {}, h("summary", {}, `${run.name}.toml`), h("pre", {tabindex: "0"}, h("code", {}, run.config.trim())))
    )
  );
}
