// From run directories to a report: collected data, a page to look at, a table for the terminal.
//
//   const nlohmann::json report = BuildReport({"runs/delta_net", "runs/mamba"});
//   WriteFileAtomically("report.html", RenderReportHtml(report));
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lrnn {

// {format: "lrnn.report", version: 1, title, summary, task, chance (or null), lrnn_version, commands: [...],
//  runs: [{label, ... see run_summary.h}...]}
//
// Runs keep their order; their labels ("DeltaNet [-1,1]") are unique. All runs must be of one task. Errors name the
// file and the field.
nlohmann::json BuildReport(const std::vector<std::filesystem::path>& runs);

// One HTML page that needs nothing else: no network, no other file.
std::string RenderReportHtml(const nlohmann::json& report);

// Plain text, laid out like Table 3 of the paper: a row for each run, our scaled accuracies with 95 % intervals, the
// paper's.
std::string RenderReportTable(const nlohmann::json& report);

}  // namespace lrnn
