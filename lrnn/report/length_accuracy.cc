#include "lrnn/report/length_accuracy.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>

#include "lrnn/base/wilson.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/report/field_checks.h"

namespace lrnn {
namespace {

constexpr int64_t kMaxBins = 20;

struct Counts {
  int64_t sequences = 0;
  int64_t correct = 0;
};

// The counts of each length, which must be those of all sequences of the evaluation.
std::map<int64_t, Counts> CountsByLength(const Fields& evaluation, int64_t low, int64_t high) {
  std::map<int64_t, Counts> counts;
  int64_t sum = 0;
  for (const Fields& row : Objects(evaluation, "by_length")) {
    const int64_t length = row.Int("length");
    if (length < low || length > high) row.Refuse("length", fmt::format("a length in {} .. {}", low, high));
    const int64_t sequences = NonNegativeInt(row, "sequences");
    const int64_t correct = NonNegativeInt(row, "correct");
    if (correct > sequences) row.Refuse("correct", fmt::format("at most {} sequences", sequences));
    counts[length].sequences += sequences;
    counts[length].correct += correct;
    sum += sequences;
  }
  if (sum != evaluation.Int("sequences")) evaluation.Refuse("sequences", fmt::format("{}, the sum of by_length", sum));
  return counts;
}

nlohmann::json Bins(const std::map<int64_t, Counts>& counts, int64_t low, int64_t high, double chance) {
  const int64_t width = (high - low + 1 + kMaxBins - 1) / kMaxBins;
  nlohmann::json bins = nlohmann::json::array();
  for (int64_t from = low; from <= high; from += width) {
    const int64_t to = std::min(from + width - 1, high);
    Counts bin;
    for (auto row = counts.lower_bound(from); row != counts.end() && row->first <= to; ++row) {
      bin.sequences += row->second.sequences;
      bin.correct += row->second.correct;
    }
    if (bin.sequences == 0) continue;
    const Interval interval = WilsonInterval(bin.correct, bin.sequences);
    const double accuracy = static_cast<double>(bin.correct) / static_cast<double>(bin.sequences);
    bins.push_back({{"from", from},
                    {"to", to},
                    {"sequences", bin.sequences},
                    {"correct", bin.correct},
                    {"scaled_accuracy", ScaledAccuracy(accuracy, chance)},
                    {"low", ScaledAccuracy(interval.low, chance)},
                    {"high", ScaledAccuracy(interval.high, chance)}});
  }
  return bins;
}

nlohmann::json Result(const Fields& evaluation) {
  return {{"sequences", evaluation.PositiveInt("sequences")},
          {"scaled_accuracy", evaluation.Double("scaled_accuracy")},
          {"low", evaluation.Double("low")},
          {"high", evaluation.Double("high")},
          {"streamed", evaluation.Bool("streamed")},
          {"seconds", NonNegative(evaluation, "seconds")},
          {"tokens", NonNegativeInt(evaluation, "tokens")}};
}

}  // namespace

nlohmann::json LengthAccuracy(const std::filesystem::path& eval_path, std::string_view task) {
  const Fields eval(ReadJson(eval_path), eval_path.string());
  CheckFormat(eval, "lrnn.eval", 1);
  CheckTask(eval, task);
  const double chance = eval.Double("chance");
  if (!(chance >= 0 && chance < 1)) eval.Refuse("chance", "a number in [0, 1)");

  nlohmann::json by_length;
  int64_t widest = 0;
  std::map<int64_t, nlohmann::json> at_one_length;
  for (const Fields& evaluation : Objects(eval, "evaluations")) {
    const nlohmann::json lengths = LengthRange(evaluation, "lengths");
    const int64_t low = lengths[0], high = lengths[1];
    nlohmann::json result = Result(evaluation);
    if (low == high) {
      result["length"] = low;
      at_one_length[low] = result;
    } else if (high - low > widest) {
      widest = high - low;
      result["lengths"] = lengths;
      result["bins"] = Bins(CountsByLength(evaluation, low, high), low, high, chance);
      by_length = result;
    }
  }
  nlohmann::json tests = nlohmann::json::array();
  for (const auto& [length, result] : at_one_length) tests.push_back(result);
  return {{"chance", chance}, {"by_length", by_length}, {"long", tests}};
}

}  // namespace lrnn
