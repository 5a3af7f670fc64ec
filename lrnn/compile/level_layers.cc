#include "lrnn/compile/level_layers.h"

#include "lrnn/automata/permutation.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/layer_builder.h"

namespace lrnn {
namespace {

using Factors = FactorWriter::Factors;

LevelKind ChooseKind(const CascadeTables& tables, bool joint) {
  bool has_permutation = false, has_reset = false;
  for (size_t a = 0; a < tables.actions.size(); ++a) {
    const bool is_reset = tables.IsReset(static_cast<int>(a));
    has_reset |= is_reset;
    has_permutation |= !is_reset && tables.actions[a] != IdentityPermutation(tables.labels);
  }
  if (!has_permutation) return has_reset ? LevelKind::kSlot : LevelKind::kFixed;
  if (tables.labels == 2) return LevelKind::kSign;
  if (!has_reset) return LevelKind::kOneHot;
  return joint ? LevelKind::kJoint : LevelKind::kPermutedSlot;
}

class LevelBuilder {
 public:
  LevelBuilder(CascadeTables tables, const LayerOptions& options) : options_(options) {
    level_.kind = ChooseKind(tables, options.joint);
    level_.delay = tables.NeedsDelay();
    level_.tables = std::move(tables);
  }

  AutomatonLevel Build() {
    switch (level_.kind) {
      case LevelKind::kFixed:
        break;
      case LevelKind::kSlot:
      case LevelKind::kSign:
        AddActions(level_.delay);
        break;
      case LevelKind::kPermutedSlot:
        AddActions(true);
        AddWrites();
        break;
      default:
        AddActions(true);
    }
    return std::move(level_);
  }

 private:
  // The layer whose symbols are the actions.
  void AddActions(bool has_swaps) {
    const FactorWriter writer = Writer(0, has_swaps);
    std::vector<Factors> symbols;
    for (size_t a = 0; a < level_.tables.actions.size(); ++a) {
      Factors& factors = symbols.emplace_back();
      const std::vector<int>& map = level_.tables.actions[a];
      if (level_.tables.IsReset(static_cast<int>(a))) {
        Reset(writer, map[0], factors);
      } else if (level_.kind == LevelKind::kSign) {
        if (map[0] == 1) writer.Flip(0, factors);
      } else if (level_.kind != LevelKind::kSlot) {
        writer.Permute(map, factors);
      }
    }
    AddLayer(0, has_swaps, symbols);
  }

  // The second layer of a permuted slot.
  void AddWrites() {
    const FactorWriter writer = Writer(1, level_.delay);
    std::vector<Factors> symbols(1);  // 0 does nothing
    for (int y = 0; y < level_.tables.labels; ++y) WriteSlot(writer, static_cast<float>(y), symbols.emplace_back());
    AddLayer(1, level_.delay, symbols);
  }

  void Reset(const FactorWriter& writer, int label, Factors& factors) const {
    const int n = level_.tables.labels;
    switch (level_.kind) {
      case LevelKind::kSlot:
        return WriteSlot(writer, static_cast<float>(label), factors);
      case LevelKind::kSign:
        return WriteSlot(writer, label == 0 ? 1.0f : -1.0f, factors);
      case LevelKind::kJoint:
        for (int x = 0; level_.delay && x < n; ++x) writer.Swap(x, n + x, factors);
        for (int x = 0; x < n; ++x) writer.Write(x, x == label ? 1.0f : 0.0f, factors);
        return;
      default:
        return;  // of a permuted slot: the second layer's work
    }
  }

  void WriteSlot(const FactorWriter& writer, float value, Factors& factors) const {
    if (level_.delay && options_.negative_eigenvalues) {
      writer.Swap(0, 1, factors);
    } else if (level_.delay) {
      writer.Write(1, 0.0f, factors);
      writer.Average(0, 1, factors);
    }
    writer.Write(0, value, factors);
  }

  int Copies(bool has_swaps) const { return has_swaps && options_.keys == KeyStyle::kDup ? 2 : 1; }

  FactorWriter Writer(int layer, bool has_swaps) const {
    return FactorWriter(options_.keys, Copies(has_swaps), level_.InitialContent(layer));
  }

  void AddLayer(int layer, bool has_swaps, const std::vector<Factors>& symbols) {
    const int copies = Copies(has_swaps);
    const int coordinates = static_cast<int>(level_.InitialContent(layer).size());
    level_.layers.push_back(BuildLayer(coordinates * copies, copies, symbols));
  }

  LayerOptions options_;
  AutomatonLevel level_;
};

}  // namespace

AutomatonLevel BuildLevel(CascadeTables tables, const LayerOptions& options) {
  AutomatonLevel level = LevelBuilder(std::move(tables), options).Build();
  const bool only_resets = level.kind == LevelKind::kSlot || level.kind == LevelKind::kFixed;
  LRNN_CHECK(options.negative_eigenvalues || only_resets,
             "[BuildLevel] a permutation needs a negative eigenvalue, and none are allowed");
  return level;
}

}  // namespace lrnn
