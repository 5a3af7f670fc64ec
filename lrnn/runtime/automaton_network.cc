#include "lrnn/runtime/automaton_network.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "lrnn/automata/permutation.h"
#include "lrnn/base/error.h"

namespace lrnn {

std::span<const std::string_view> LevelKindNames() {
  static constexpr std::string_view kNames[] = {"fixed",         "slot",  "sign",   "one_hot",
                                                "permuted_slot", "joint", "points", "rotation"};
  return kNames;
}

std::span<const std::string_view> KeyStyleNames() {
  static constexpr std::string_view kNames[] = {"exact", "dup", "unit"};
  return kNames;
}

std::string_view Name(LevelKind kind) { return LevelKindNames()[static_cast<size_t>(kind)]; }

std::string_view Name(KeyStyle keys) { return KeyStyleNames()[static_cast<size_t>(keys)]; }

bool CascadeTables::IsReset(int action) const {
  const std::vector<int>& map = actions[action];
  return labels > 1 && std::all_of(map.begin(), map.end(), [&](int label) { return label == map[0]; });
}

bool CascadeTables::NextIsConstant(int context) const {
  const std::vector<int>& row = next[context];
  return std::all_of(row.begin(), row.end(), [&](int to) { return to == row[0]; });
}

bool CascadeTables::NeedsDelay() const {
  for (int context = 0; context < contexts(); ++context) {
    if (IsReset(action_of[context]) && !NextIsConstant(context)) return true;
  }
  return false;
}

std::vector<float> AutomatonLevel::InitialContent(int layer) const {
  const auto unit = [](int size) {
    std::vector<float> e(size, 0.0f);
    e[0] = 1.0f;
    return e;
  };
  const auto counting = [](size_t size) {
    std::vector<float> values(size);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
  };
  switch (kind) {
    case LevelKind::kFixed:
      return {};
    case LevelKind::kSlot:
      return std::vector<float>(delay ? 2 : 1, 0.0f);
    case LevelKind::kSign:
      return unit(delay ? 2 : 1);
    case LevelKind::kOneHot:
      return unit(tables.labels);
    case LevelKind::kPermutedSlot:
      return layer == 0 ? counting(tables.labels) : std::vector<float>(delay ? 2 : 1, 0.0f);
    case LevelKind::kJoint:
      return unit(delay ? 2 * tables.labels : tables.labels);
    case LevelKind::kPoints:
      return counting(codes[0].size());
    case LevelKind::kRotation:
      return unit(2);
  }
  return {};
}

namespace {

// Checks of one level; `what` names it.
class LevelCheck {
 public:
  LevelCheck(const AutomatonLevel& level, std::string what) : level_(level), t_(level.tables), what_(std::move(what)) {}

  void Run(int next_contexts) const {
    CheckTables(next_contexts);
    CheckKind();
    const size_t layers = level_.kind == LevelKind::kFixed ? 0 : level_.kind == LevelKind::kPermutedSlot ? 2 : 1;
    LRNN_CHECK(level_.layers.size() == layers, "{}: expected {} layers, got {}", what_, layers, level_.layers.size());
    for (size_t i = 0; i < layers; ++i) CheckLayer(static_cast<int>(i));
  }

 private:
  void CheckTables(int next_contexts) const {
    LRNN_CHECK(t_.labels >= 1, "{}: expected at least one label, got {}", what_, t_.labels);
    const size_t labels = t_.labels;
    for (const std::vector<int>& action : t_.actions) {
      LRNN_CHECK(action.size() == labels, "{}: expected actions on {} labels, got {}", what_, labels, action.size());
      for (const int to : action) CheckRange("a label", to, 0, t_.labels);
    }
    for (size_t a = 0; a < t_.actions.size(); ++a) {
      LRNN_CHECK(t_.IsReset(static_cast<int>(a)) || IsPermutation(t_.actions[a]),
                 "{}: action {} is neither a permutation nor a reset", what_, a);
    }
    LRNN_CHECK(t_.next.size() == t_.action_of.size(), "{}: expected {} rows of next contexts, got {}", what_,
               t_.action_of.size(), t_.next.size());
    for (const int action : t_.action_of) CheckRange("an action", action, 0, static_cast<int>(t_.actions.size()));
    for (const std::vector<int>& row : t_.next) {
      LRNN_CHECK(row.size() == labels, "{}: expected rows of {} next contexts, got {}", what_, labels, row.size());
      for (const int context : row) CheckRange("a next context", context, -1, next_contexts);
    }
  }

  void CheckKind() const {
    const bool keeps_one_label = level_.kind == LevelKind::kOneHot || level_.kind == LevelKind::kPoints ||
                                 level_.kind == LevelKind::kRotation || level_.kind == LevelKind::kFixed;
    LRNN_CHECK(!level_.delay || !keeps_one_label, "{}: a level of kind {} has no delay", what_, Name(level_.kind));
    for (size_t a = 0; a < t_.actions.size(); ++a) {
      const bool is_reset = t_.IsReset(static_cast<int>(a));
      const bool is_identity = t_.actions[a] == IdentityPermutation(t_.labels);
      const bool fits = level_.kind == LevelKind::kFixed  ? is_identity
                        : level_.kind == LevelKind::kSlot ? is_identity || is_reset
                                                          : !keeps_one_label || !is_reset;
      LRNN_CHECK(fits, "{}: action {} is not one of a level of kind {}", what_, a, Name(level_.kind));
    }
    LRNN_CHECK(level_.kind != LevelKind::kSign || t_.labels == 2, "{}: expected 2 labels of a sign, got {}", what_,
               t_.labels);
    if (level_.kind != LevelKind::kPoints) return;
    LRNN_CHECK(static_cast<int>(level_.codes.size()) == t_.labels && !level_.codes[0].empty(),
               "{}: expected {} codes, got {}", what_, t_.labels, level_.codes.size());
    std::set<std::vector<int>> seen;
    for (const std::vector<int>& code : level_.codes) {
      LRNN_CHECK(code.size() == level_.codes[0].size() && IsPermutation(code) && seen.insert(code).second,
                 "{}: expected codes that are different permutations of {} points", what_, level_.codes[0].size());
    }
    LRNN_CHECK(level_.codes[0] == IdentityPermutation(static_cast<int>(level_.codes[0].size())),
               "{}: expected the code of label 0 to be the identity", what_);
  }

  void CheckLayer(int index) const {
    const DeltaProductTable& layer = level_.layers[index];
    const int64_t symbols = index == 0 ? static_cast<int64_t>(t_.actions.size()) : t_.labels + 1;
    const int64_t coordinates = static_cast<int64_t>(level_.InitialContent(index).size());
    LRNN_CHECK(layer.copies == 1 || layer.copies == 2, "{}: expected 1 or 2 copies, got {}", what_, layer.copies);
    LRNN_CHECK(layer.symbols == symbols, "{}: expected {} symbols, got {}", what_, symbols, layer.symbols);
    LRNN_CHECK(layer.K == coordinates * layer.copies, "{}: expected K = {}, got {}", what_, coordinates * layer.copies,
               layer.K);
    LRNN_CHECK(layer.n_h >= 0, "{}: expected n_h >= 0, got {}", what_, layer.n_h);
    const size_t steps = static_cast<size_t>(layer.symbols) * layer.n_h;
    LRNN_CHECK(layer.k.size() == steps * layer.K && layer.beta.size() == steps && layer.v.size() == steps,
               "{}: expected tables of {} micro-steps", what_, steps);
    for (const std::vector<float>* values : {&layer.k, &layer.beta, &layer.v}) {
      for (const float value : *values) LRNN_CHECK(std::isfinite(value), "{}: a weight is {}", what_, value);
    }
  }

  void CheckRange(const char* name, int value, int first, int end) const {
    LRNN_CHECK(value >= first && value < end, "{}: expected {} in {} .. {}, got {}", what_, name, first, end - 1,
               value);
  }

  const AutomatonLevel& level_;
  const CascadeTables& t_;
  std::string what_;
};

}  // namespace

void Validate(const AutomatonNetwork& network, std::string_view source) {
  try {
    Validate(network.dfa);
  } catch (const Error& error) {
    Fail("{}: {}", source, error.what());
  }
  LRNN_CHECK(!network.is_jit() || (network.levels.empty() && network.first_context.empty()),
             "{}: expected no tables in mode jit", source);
  if (network.is_jit()) return;
  const auto contexts = [&](size_t level) {
    return level < network.levels.size() ? network.levels[level].tables.contexts() : network.dfa.num_states;
  };
  LRNN_CHECK(network.first_context.size() == network.dfa.letters.size(), "{}: expected {} first contexts, got {}",
             source, network.dfa.letters.size(), network.first_context.size());
  for (const int context : network.first_context) {
    LRNN_CHECK(context >= 0 && context < contexts(0), "{}: expected a first context in 0 .. {}, got {}", source,
               contexts(0) - 1, context);
  }
  for (size_t i = 0; i < network.levels.size(); ++i) {
    LevelCheck(network.levels[i], fmt::format("{}: level {}", source, i)).Run(contexts(i + 1));
  }
}

}  // namespace lrnn
