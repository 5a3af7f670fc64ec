// Elements by function call: h("p", {class: "note"}, "text", child). Text is always text, never markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

// A table with a caption. columns: [{name, value(row) -> text or element, number, head, optional}]; `head` makes the cell the
// row's header, `optional` columns are left out on narrow screens.
export function table(caption, columns, rows) {
  const kind = (column) => [column.number ? "number" : "", column.optional ? "optional" : ""].join(" ").trim() || null;
  return h(
    "div",
    {class: "scroll", tabindex: "0", role: "region", "aria-label": typeof caption === "string" ? caption : null},
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", {scope: "col", class: kind(column)}, column.name)))),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            columns.map((column) =>
              h(column.head ? "th" : "td", {scope: column.head ? "row" : null, class: kind(column)}, column.value(row))
            )
          )
        )
      )
    )
  );
}
