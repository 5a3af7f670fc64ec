// RenderReportTable: the results for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lrnn/report/aligned_rows.h"
#include "lrnn/report/number_text.h"
#include "lrnn/report/report.h"

namespace lrnn {
namespace {

using nlohmann::json;
using Row = std::vector<std::string>;

std::string Score(const json& result) {
  return fmt::format("{} {}", AccuracyText(result["scaled_accuracy"]), IntervalText(result["low"], result["high"]));
}

}  // namespace

std::string RenderReportTable(const json& report) {
  std::set<std::string> tested;
  std::set<int64_t> one_length;
  std::vector<std::string> notes;
  const auto add_note = [&notes](const std::string& note) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  };
  bool has_reference = false;
  for (const json& run : report["runs"]) {
    if (!run["by_length"].is_null()) tested.insert(LengthsText(run["by_length"]["lengths"]));
    for (const json& test : run["long"]) one_length.insert(test["length"].get<int64_t>());
    if (!run["reference"].is_null()) {
      has_reference = true;
      add_note("Paper: " + run["reference"]["source"].get<std::string>());
    }
    const json& train = run["train"];
    if (train["state"] != "complete") {
      add_note(fmt::format("{}: training {} at step {} of {}", run["label"].get<std::string>(),
                           train["state"].get<std::string>(), CountText(train["step"]), CountText(train["steps"])));
    }
  }

  Row head = {"Model", "Parameters", tested.size() == 1 ? *tested.begin() + " tokens" : "tested lengths"};
  if (has_reference) head.push_back("Paper");
  for (int64_t length : one_length) head.push_back(CountText(length) + " tokens");
  std::vector<Row> rows = {head};
  for (const json& run : report["runs"]) {
    Row row = {run["label"], CountText(run["train"]["parameters"])};
    const json& by_length = run["by_length"];
    if (by_length.is_null()) {
      row.push_back("not tested");
    } else {
      row.push_back(Score(by_length) + (tested.size() == 1 ? "" : " at " + LengthsText(by_length["lengths"])));
    }
    if (has_reference)
      row.push_back(run["reference"].is_null() ? "-" : AccuracyText(run["reference"]["scaled_accuracy"]));
    for (int64_t length : one_length) {
      const auto test = std::find_if(run["long"].begin(), run["long"].end(),
                                     [length](const json& t) { return t["length"] == length; });
      row.push_back(test == run["long"].end() ? "not tested" : Score(*test));
    }
    rows.push_back(row);
  }

  std::string text = fmt::format("{}\nScaled accuracy (1 is perfect, 0 is guessing) with its 95 % interval\n\n{}",
                                 report["title"].get<std::string>(), AlignRows(rows));
  if (!notes.empty()) text += '\n';
  for (const std::string& note : notes) text += note + '\n';
  return text;
}

}  // namespace lrnn
