// lrnn report: runs as one page and one table.
#include "lrnn/report/report.h"

#include <fmt/core.h>

#include "cli/commands.h"
#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string out;
};

void RunReport(const Options& options) {
  const nlohmann::json report = BuildReport({options.runs.begin(), options.runs.end()});
  fmt::print("{}", RenderReportTable(report));
  if (options.out.empty()) return;
  const std::filesystem::path page = options.out;
  LRNN_CHECK(page.extension() == ".html", "-o: expected a file name that ends in .html, got \"{}\"", options.out);
  WriteFileAtomically(page, RenderReportHtml(report));
  std::filesystem::path data = page;
  WriteJson(data.replace_extension(".json"), report);
  fmt::print("\n{}: open it in a browser\n", page.string());
}

}  // namespace

void AddReport(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "runs as a table and, with -o, as one self-contained page");
  command->add_option("RUN", options->runs, "run directories, in the order of the table")->required();
  command->add_option("-o,--out", options->out, "write the page here (.html), and its data beside it (.json)");
  command->callback([options] { RunReport(*options); });
}

}  // namespace lrnn::cli
