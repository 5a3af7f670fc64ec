// Makes a report page from sample runs for report_page_test.py: report_page_test DIRECTORY writes
// DIRECTORY/report.html, the four runs of the paper's first claim, and DIRECTORY/partial.html, runs of which parts are
// missing and whose title tries to be markup.
#include <cstdio>
#include <filesystem>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/report/report.h"
#include "lrnn/report/sample_runs.h"

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
  } catch (const lrnn::Error& error) {
    std::fprintf(stderr, "report_page_test: %s\n", error.what());
    return 1;
  }
}
