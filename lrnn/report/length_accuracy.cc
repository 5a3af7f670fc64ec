#include "lrnn/report/length_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "lrnn/base/wilson.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/report/field_checks.h"

namespace lrnn {
namespace {

constexpr int64_t kMaxBins = 20;

struct Counts {
  int64_t sequences = 0;
  int64_t targets = 0;
  int64_t correct = 0;  // of the targets
};

// The counts of each length, which must be those of all sequences of the evaluation. Where a sequence has several
// predictions and the task counts each of them, they are in targets and correct_targets.
std::map<int64_t, Counts> CountsByLength(const Fields& evaluation, int64_t low, int64_t high) {
  std::map<int64_t, Counts> counts;
  int64_t sum = 0;
  const bool is_by_token = evaluation.String("score", "") == "tokens";
  for (const Fields& row : Objects(evaluation, "by_length")) {
    const int64_t length = row.Int("length");
    // A task whose lengths are all odd takes the one below an even length.
    if (length < low - 1 || length > high) row.Refuse("length", fmt::format("a length in {} .. {}", low, high));
    const int64_t sequences = NonNegativeInt(row, "sequences");
    const char* const correct_name = is_by_token ? "correct_targets" : "correct";
    const int64_t targets = is_by_token ? NonNegativeInt(row, "targets") : sequences;
    const int64_t correct = NonNegativeInt(row, correct_name);
    if (correct > targets) {
      row.Refuse(correct_name, fmt::format("at most {} {}", targets, is_by_token ? "targets" : "sequences"));
    }
    counts[length].sequences += sequences;
    counts[length].targets += targets;
    counts[length].correct += correct;
    sum += sequences;
  }
  if (sum != evaluation.Int("sequences")) evaluation.Refuse("sequences", fmt::format("{}, the sum of by_length", sum));
  return counts;
}

// A sequence is one observation, however many predictions it has: those of one sequence fail together.
nlohmann::json Bin(int64_t from, int64_t to, const Counts& counts, double chance) {
  const double accuracy = static_cast<double>(counts.correct) / static_cast<double>(counts.targets);
  const int64_t right = std::llround(accuracy * static_cast<double>(counts.sequences));
  const Interval interval = WilsonInterval(right, counts.sequences);
  return {{"from", from},
          {"to", to},
          {"sequences", counts.sequences},
          {"correct", right},
          {"scaled_accuracy", ScaledAccuracy(accuracy, chance)},
          {"low", ScaledAccuracy(interval.low, chance)},
          {"high", ScaledAccuracy(interval.high, chance)}};
}

nlohmann::json Bins(const std::map<int64_t, Counts>& counts, int64_t low, int64_t high, double chance) {
  if (!counts.empty()) low = std::min(low, counts.begin()->first);
  const int64_t width = (high - low + 1 + kMaxBins - 1) / kMaxBins;
  nlohmann::json bins = nlohmann::json::array();
  for (int64_t from = low; from <= high; from += width) {
    const int64_t to = std::min(from + width - 1, high);
    Counts bin;
    for (auto row = counts.lower_bound(from); row != counts.end() && row->first <= to; ++row) {
      bin.sequences += row->second.sequences;
      bin.targets += row->second.targets;
      bin.correct += row->second.correct;
    }
    if (bin.targets > 0) bins.push_back(Bin(from, to, bin, chance));
  }
  return bins;
}

// Every length up to 64, then one in 64 of them: the curve falls where models break, early.
nlohmann::json Positions(const Fields& evaluation) {
  const std::vector<Fields> rows = Objects(evaluation, "by_position");
  const size_t step = std::max<size_t>(1, rows.size() / 64);
  nlohmann::json bins = nlohmann::json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 64 && i % step != 0 && i + 1 < rows.size()) continue;
    const Fields& row = rows[i];
    const int64_t length = row.PositiveInt("length"), sequences = row.PositiveInt("sequences");
    const int64_t correct = NonNegativeInt(row, "correct");
    if (correct > sequences) row.Refuse("correct", fmt::format("at most {} sequences", sequences));
    bins.push_back(Bin(length, length, {sequences, sequences, correct}, 0));
  }
  if (bins.empty()) evaluation.Refuse("by_position", "at least one length");
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

// The evaluation over the widest range of lengths, with its curve, or null.
nlohmann::json Widest(const std::vector<Fields>& evaluations, double chance) {
  nlohmann::json by_length;
  int64_t widest = 0;
  for (const Fields& evaluation : evaluations) {
    const nlohmann::json lengths = LengthRange(evaluation, "lengths");
    const int64_t low = lengths[0], high = lengths[1];
    if (low == high && evaluation.Has("by_position") && high > widest) {
      widest = high;
      by_length = Result(evaluation);
      by_length["bins"] = Positions(evaluation);
      by_length["lengths"] = {by_length["bins"].front()["from"], high};
    } else if (high - low > widest) {
      widest = high - low;
      by_length = Result(evaluation);
      by_length["lengths"] = lengths;
      by_length["bins"] = Bins(CountsByLength(evaluation, low, high), low, high, chance);
    }
  }
  return by_length;
}

nlohmann::json Horizon(const Fields& eval) {
  if (!eval.Has("horizon")) return nullptr;
  const Fields horizon = eval.Object("horizon");
  return {{"length", NonNegativeInt(horizon, "length")},
          {"has_ended", horizon.Bool("has_ended")},
          {"accuracy", horizon.Double("accuracy")}};
}

}  // namespace

nlohmann::json LengthAccuracy(const std::filesystem::path& eval_path, std::string_view task) {
  const Fields eval(ReadJson(eval_path), eval_path.string());
  CheckFormat(eval, "lrnn.eval", 1);
  CheckTask(eval, task);
  const double chance = eval.Double("chance");
  if (!(chance >= 0 && chance < 1)) eval.Refuse("chance", "a number in [0, 1)");

  const std::vector<Fields> evaluations = Objects(eval, "evaluations");
  std::map<int64_t, nlohmann::json> at_one_length;
  for (const Fields& evaluation : evaluations) {
    const nlohmann::json lengths = LengthRange(evaluation, "lengths");
    if (lengths[0] != lengths[1]) continue;
    nlohmann::json result = Result(evaluation);
    result["length"] = lengths[0];
    at_one_length[lengths[0].get<int64_t>()] = result;
  }
  nlohmann::json tests = nlohmann::json::array();
  for (const auto& [length, result] : at_one_length) tests.push_back(result);
  return {{"chance", chance},
          {"by_length", Widest(evaluations, chance)},
          {"long", tests},
          {"bf16", eval.Has("evaluations_bf16") ? Widest(Objects(eval, "evaluations_bf16"), chance) : nlohmann::json()},
          {"horizon", Horizon(eval)}};
}

}  // namespace lrnn
