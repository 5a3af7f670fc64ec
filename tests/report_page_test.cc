// Makes pages from sample runs for report_page_test.py: report_page_test DIRECTORY writes DIRECTORY/report.html, the
// four runs of the paper's first claim, DIRECTORY/partial.html, runs of which parts are missing and whose title tries
// to be markup, and DIRECTORY/experiment.html, the paper's Table 3 with made-up results and one run that failed.
#include <cstdio>
#include <filesystem>
#include <string>

#include "lrnn/base/error.h"
#include "lrnn/experiments/experiment_table.h"
#include "lrnn/experiments/results.h"
#include "lrnn/experiments/runner.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/report/html_page.h"
#include "lrnn/report/report.h"
#include "lrnn/report/sample_runs.h"

namespace {

std::string ExperimentPage(const std::filesystem::path& directory) {
  using namespace lrnn;
  const Experiment experiment = ReadExperiment(ExperimentFiles(), "table3");
  const Plan plan = MakePlan(experiment, {.budget = "short", .seeds = {1, 2, 3}});
  std::filesystem::create_directories(directory);
  QueueState state(directory, plan);
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    if (run.id.starts_with("brackets_mlstm-") && run.seed == 1) {
      state.Set(i, {RunState::kFailed, 0, 1, "lrnn: the loss is nan at step 17"});
      continue;
    }
    const ExperimentRow& row = experiment.groups[run.group].rows[run.row];
    WriteSampleRun(RunPath(directory, run), {.layer = row.values.at("model").at("layer"),
                                             .is_extended = row.label.find("[-1,1]") != std::string::npos,
                                             .seed = static_cast<int>(run.seed)});
    state.Set(i, {RunState::kDone, 1, 40, ""});
  }
  const nlohmann::json results = BuildResults(plan, state, directory);
  return RenderPage(results["title"], RenderExperimentTable(results), results);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: report_page_test DIRECTORY\n", stderr);
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  try {
    lrnn::WriteFileAtomically(directory / "report.html",
                              lrnn::RenderReportHtml(lrnn::BuildReport(lrnn::WriteSampleRuns(directory / "runs"))));
    lrnn::SampleRun bare;
    bare.title = "</script><b id=\"injected\">";
    bare.state = "interrupted";
    bare.has_metrics = bare.has_eval = bare.has_spectrum = false;
    lrnn::SampleRun half;
    half.layer = "mamba";
    half.has_spectrum = false;
    const std::filesystem::path bare_path = lrnn::WriteSampleRun(directory / "runs" / "</script><b>", bare);
    const std::filesystem::path half_path = lrnn::WriteSampleRun(directory / "runs" / "half", half);
    lrnn::WriteFileAtomically(directory / "partial.html",
                              lrnn::RenderReportHtml(lrnn::BuildReport({bare_path, half_path})));
    lrnn::WriteFileAtomically(directory / "experiment.html", ExperimentPage(directory / "table3"));
  } catch (const lrnn::Error& error) {
    std::fprintf(stderr, "report_page_test: %s\n", error.what());
    return 1;
  }
}
