#include "lrnn/experiments/results_csv.h"

#include <fmt/format.h>

#include <vector>

namespace lrnn {
namespace {

using nlohmann::json;

// A field: strings in quotes where they need them, numbers as JSON writes them, nothing for null.
std::string Field(const json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  const std::string text = value;
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void AddLine(std::string& csv, const std::vector<json>& fields) {
  for (size_t i = 0; i < fields.size(); ++i) csv += (i > 0 ? "," : "") + Field(fields[i]);
  csv += '\n';
}

}  // namespace

std::string RunsCsv(const json& results) {
  std::string csv;
  AddLine(csv, {"experiment", "budget", "group", "model", "learning_rate", "seed", "score", "value", "low", "high",
                "sequences", "is_chosen", "paper_best", "paper_median", "paper_mad"});
  for (const json& group : results["groups"]) {
    for (const json& row : group["rows"]) {
      const json& paper = row["paper"];
      for (const json& rate : row["rates"]) {
        for (const json& run : rate["runs"]) {
          AddLine(csv, {results["name"], results["budget"], group["name"], row["label"], rate["learning_rate"],
                        run["seed"], results["score"], run["score"], run["low"], run["high"], run["sequences"],
                        rate["learning_rate"] == row["learning_rate"], paper["best"], paper["median"], paper["mad"]});
        }
      }
    }
  }
  return csv;
}

std::string CurvesCsv(const json& results) {
  std::string csv;
  AddLine(csv, {"experiment", "budget", "group", "model", "source", "from", "to", "value", "low", "high"});
  for (const json& group : results["groups"]) {
    for (const json& row : group["rows"]) {
      const auto add = [&](const char* source, const std::vector<json>& values) {
        std::vector<json> fields = {results["name"], results["budget"], group["name"], row["label"], source};
        fields.insert(fields.end(), values.begin(), values.end());
        AddLine(csv, fields);
      };
      if (!row["run"].is_null() && !row["run"]["by_length"].is_null()) {
        for (const json& bin : row["run"]["by_length"]["bins"]) {
          add("ours", {bin["from"], bin["to"], bin["scaled_accuracy"], bin["low"], bin["high"]});
        }
      }
      for (const json& point : row["paper"]["curve"]) add("paper", {point[0], point[0], point[1], json(), json()});
    }
  }
  return csv;
}

}  // namespace lrnn
