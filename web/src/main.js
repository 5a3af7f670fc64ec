// Reads what lrnn put into the document and draws it: some runs, or an experiment of the paper.
import {h} from "./dom.js";
import {experimentPage} from "./experiment_page.js";
import {drawPanels} from "./figure.js";
import {runsPage} from "./runs_page.js";

const data = JSON.parse(document.getElementById("lrnn-report").textContent);
const pages = {"lrnn.report": runsPage, "lrnn.experiment": experimentPage};

document.querySelector("main").replaceChildren(
  ...pages[data.format](data),
  h("footer", {}, h("p", {}, `Trained with lrnn ${data.lrnn_version}. Paper: Grazzi, Siems, Zela, Franke, Hutter, Pontil, `,
    h("cite", {}, "Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues"), ", ICLR 2025."))
);
drawPanels();
