// The command that makes this page again, and the configurations behind its rows.
import {h} from "./dom.js";
import {note, section} from "./figure.js";

const settings = (row) => Object.entries(row.settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join("\n");

export function configurations(report) {
  return section(
    "reproduce",
    "How to reproduce",
    h("pre", {tabindex: "0", "aria-label": "Commands"}, h("code", {}, report.commands.join("\n"))),
    note("The configurations, and what this budget changed in them:"),
    report.groups.flatMap((group) => group.rows).map((row) =>
      h("details", {}, h("summary", {}, row.config_name), h("pre", {tabindex: "0"}, h("code", {}, row.config.trim())),
        Object.keys(row.settings).length ? h("pre", {tabindex: "0"}, h("code", {}, settings(row))) : null)
    )
  );
}
