// Bundles src/ into one page without outside references and writes it twice into the given directory:
//
//   report_page.html   the page, with three places left open: {{title}}, {{table}} and {{report}}
//   report_page.cc     the same text as C++: lrnn::ReportPageTemplate() of lrnn/report/page_template.h
//
// Usage: node build.mjs DIRECTORY, where `npm ci` has run before
import {createRequire} from "node:module";
import {readFileSync, writeFileSync} from "node:fs";
import {join, resolve} from "node:path";
import {fileURLToPath} from "node:url";

if (process.argv.length !== 3) throw new Error("usage: node build.mjs DIRECTORY");
const output = resolve(process.argv[2]);
const {buildSync} = createRequire(join(output, "package.json"))("esbuild");

function bundle(entry, options) {
  const result = buildSync({
    entryPoints: [fileURLToPath(new URL(`src/${entry}`, import.meta.url))],
    nodePaths: [join(output, "node_modules")],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "none",
    ...options
  });
  return result.outputFiles[0].text.trim();
}

const script = bundle("main.js", {format: "iife", target: "es2020"});
const style = bundle("page.css", {loader: {".css": "css"}});
if (/<\/script/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its own element");

// Replacing by function: the bundle is full of "$&", which a replacement string would interpret.
const page = readFileSync(new URL("src/page.html", import.meta.url), "utf8")
  .replace("{{style}}", () => style)
  .replace("{{script}}", () => script);

const delimiter = "lrnn_page";
if (page.includes(`)${delimiter}"`)) throw new Error(`the page contains the raw string's end )${delimiter}"`);
const source = `// Made by web/build.mjs.
#include "lrnn/report/page_template.h"

namespace lrnn {

std::string_view ReportPageTemplate() {
  static constexpr char kPage[] = R"${delimiter}(${page})${delimiter}";
  return {kPage, sizeof(kPage) - 1};
}

}  // namespace lrnn
`;

writeFileSync(join(output, "report_page.html"), page);
writeFileSync(join(output, "report_page.cc"), source);
