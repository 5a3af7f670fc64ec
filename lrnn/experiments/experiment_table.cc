#include "lrnn/experiments/experiment_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lrnn/report/aligned_rows.h"
#include "lrnn/report/number_text.h"

namespace lrnn {
namespace {

using nlohmann::json;

std::string ScoreText(const json& value) { return value.is_null() ? "-" : AccuracyText(value); }

// "0.093 ± 0.028"
std::string MedianText(const json& numbers) {
  if (numbers["median"].is_null()) return "-";
  return fmt::format("{} ± {}", AccuracyText(numbers["median"]),
                     numbers["mad"].is_null() ? "?" : AccuracyText(numbers["mad"]));
}

bool HasPaper(const json& rows, const char* name) {
  return std::any_of(rows.begin(), rows.end(), [name](const json& row) { return !row["paper"][name].is_null(); });
}

}  // namespace

std::string RenderExperimentTable(const json& results) {
  const bool is_scaled = results["score"] == "scaled_accuracy";
  std::string text = fmt::format(
      "{}\n{} at {} {}\n", results["title"].get<std::string>(),
      is_scaled ? "Scaled accuracy (1 is perfect, 0 is guessing)" : "Share of sequences with every prediction right",
      results["lengths"][0] == results["lengths"][1] ? "length" : "lengths", LengthsText(results["lengths"]));
  for (const json& group : results["groups"]) {
    const json& rows = group["rows"];
    const bool has_best = HasPaper(rows, "best"), has_median = HasPaper(rows, "median");
    const bool has_seeds = std::any_of(rows.begin(), rows.end(), [](const json& row) { return row["seeds"] > 1; });
    std::vector<std::vector<std::string>> cells = {{group["title"], "best"}};
    if (has_best) cells[0].push_back("paper");
    if (has_seeds) cells[0].push_back("median ± MAD");
    if (has_median) cells[0].push_back("paper");
    cells[0].insert(cells[0].end(), {"seeds", "learning rate", "tokens/s"});
    for (const json& row : rows) {
      const bool is_there = !row["run"].is_null();
      std::vector<std::string> line = {row["label"], ScoreText(row["best"])};
      if (has_best) line.push_back(ScoreText(row["paper"]["best"]));
      if (has_seeds) line.push_back(MedianText(row));
      if (has_median) line.push_back(MedianText(row["paper"]));
      line.push_back(std::to_string(row["seeds"].get<int>()));
      line.push_back(is_there ? fmt::format("{:g}", row["learning_rate"].get<double>()) : "-");
      line.push_back(is_there ? CountText(row["cost"]["tokens_per_second"].get<int64_t>()) : "-");
      cells.push_back(line);
    }
    text += "\n" + AlignRows(cells);
  }
  text += fmt::format("\nPaper: {}\n", results["paper"].get<std::string>());
  const json& runs = results["runs"];
  if (runs["done"] != runs["planned"]) {
    text += fmt::format("{} of {} runs done, {} failed\n", runs["done"].get<int>(), runs["planned"].get<int>(),
                        runs["failed"].get<int>());
  }
  return text;
}

}  // namespace lrnn
