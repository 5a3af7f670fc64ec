// The key to colours and dashes, for figures that show all runs together.
import {h} from "./dom.js";

const svg = "http://www.w3.org/2000/svg";

function stroke(run) {
  const image = document.createElementNS(svg, "svg");
  const line = document.createElementNS(svg, "line");
  for (const [name, value] of Object.entries({width: 30, height: 8, "aria-hidden": "true"})) image.setAttribute(name, value);
  for (const [name, value] of Object.entries({x1: 0, x2: 30, y1: 4, y2: 4, "stroke-width": run.width ?? 2})) line.setAttribute(name, value);
  line.style.stroke = run.color;
  if (run.dash) line.setAttribute("stroke-dasharray", run.dash);
  image.append(line);
  return image;
}

export function legend(runs) {
  return h("ul", {class: "legend"}, runs.map((run) => h("li", {}, stroke(run), run.display)));
}
