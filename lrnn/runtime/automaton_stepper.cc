#include "lrnn/runtime/automaton_stepper.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "lrnn/automata/permutation.h"
#include "lrnn/runtime/bf16.h"
#include "lrnn/runtime/fixed8.h"
#include "lrnn/runtime/householder_factor.h"
#include "lrnn/runtime/jit_stepper.h"

namespace lrnn {
namespace {

// The integer 0 .. count-1 that a number stands for, or -1.
int RoundToLabel(float value, int count) {
  if (!(value > -0.5f && value < static_cast<float>(count) - 0.5f)) return -1;
  return static_cast<int>(value + 0.5f);
}

// The non-zero entries of a layer's keys, symbol by symbol.
template <typename Number>
class SparseLayer {
 public:
  explicit SparseLayer(const DeltaProductTable& table) : K_(table.K) {
    for (int symbol = 0; symbol < table.symbols; ++symbol) {
      first_.push_back(static_cast<int>(factors_.size()));
      for (int m = 0; m < table.n_h; ++m) {
        const int64_t step = static_cast<int64_t>(symbol) * table.n_h + m;
        if (table.beta[step] == 0.0f) continue;
        Factor factor{static_cast<int>(entries_.size()), 0, Number(table.beta[step]), Number(table.v[step])};
        for (int row = 0; row < table.K; ++row) {
          const float k = table.k[step * table.K + row];
          if (k == 0.0f) continue;
          entries_.push_back({row, Number(k)});
          ++factor.width;
        }
        factors_.push_back(factor);
      }
    }
    first_.push_back(static_cast<int>(factors_.size()));
  }

  int K() const { return K_; }

  void Apply(int symbol, Number* S) const {
    for (int i = first_[symbol]; i < first_[symbol + 1]; ++i) {
      const Factor& factor = factors_[i];
      HouseholderStep(entries_.data() + factor.first, factor.width, factor.beta, factor.v, S);
    }
  }

 private:
  struct Factor {
    int first, width;  // in entries_
    Number beta, v;
  };
  int K_;
  std::vector<KeyEntry<Number>> entries_;
  std::vector<Factor> factors_;
  std::vector<int> first_;  // [symbol], in factors_
};

// Finds the label of a code: a tree over the content of one point after the other.
class CodeTree {
 public:
  CodeTree() = default;
  explicit CodeTree(const std::vector<std::vector<int>>& codes) : points_(static_cast<int>(codes[0].size())) {
    nodes_.assign(points_, kNone);
    for (size_t label = 0; label < codes.size(); ++label) {
      int node = 0;
      for (int depth = 0; depth + 1 < points_; ++depth) {
        const size_t entry = static_cast<size_t>(node) * points_ + codes[label][depth];
        if (nodes_[entry] == kNone) {
          nodes_[entry] = static_cast<int>(nodes_.size() / points_);
          nodes_.resize(nodes_.size() + points_, kNone);
        }
        node = nodes_[entry];
      }
      nodes_[static_cast<size_t>(node) * points_ + codes[label].back()] = static_cast<int>(label);
    }
  }

  int points() const { return points_; }

  template <typename Content>
  int Find(const Content& content) const {
    int node = 0;
    for (int depth = 0; depth < points_; ++depth) {
      const int value = RoundToLabel(content(depth), points_);
      if (value < 0) return -1;
      node = nodes_[static_cast<size_t>(node) * points_ + value];
      if (node == kNone) return -1;
    }
    return node;
  }

 private:
  static constexpr int kNone = -1;
  int points_ = 0;
  std::vector<int> nodes_;  // [node, value]: a node, at the last point a label
};

template <typename Number>
class TableStepper : public AutomatonStepper<Number> {
 public:
  explicit TableStepper(const AutomatonNetwork& network) : first_context_(network.first_context) {
    for (const AutomatonLevel& level : network.levels) {
      levels_.emplace_back(level, network.negative_eigenvalues, state_size_);
      for (const DeltaProductTable& layer : level.layers) state_size_ += layer.K;
    }
  }

  int64_t StateSize() const override { return state_size_; }

  int Step(int letter, Number* S) const override {
    int context = first_context_[letter];
    for (const Level& level : levels_) {
      context = level.Step(context, S + level.offset);
      if (context < 0) return -1;
    }
    return context;
  }

  void Run(std::span<const int> letters, Number* S, int* states) const override {
    for (size_t t = 0; t < letters.size(); ++t) states[t] = TableStepper::Step(letters[t], S);
  }

 private:
  struct Context {
    int action;
    int reset;           // the label it resets to, -1 for permutations
    int constant;        // the next context when the label before does not matter, else -1
    bool reads_delayed;  // the label before is in the second coordinate
    int next;            // first entry of its row in Level::next
  };

  struct Level {
    Level(const AutomatonLevel& level, bool negative_eigenvalues, int64_t offset)
        : kind(level.kind), labels(level.tables.labels), offset(offset), codes() {
      if (kind == LevelKind::kPoints) codes = CodeTree(level.codes);
      for (size_t i = 0; i < level.layers.size(); ++i) {
        layers.emplace_back(level.layers[i]);
        copies[i] = level.layers[i].copies;
        for (const float value : level.InitialContent(static_cast<int>(i))) initial[i].push_back(Number(value));
      }
      delayed_scale = negative_eigenvalues ? 1.0f : 2.0f;
      const CascadeTables& tables = level.tables;
      for (int c = 0; c < tables.contexts(); ++c) {
        const int action = tables.action_of[c];
        const std::vector<int>& map = tables.actions[action];
        const bool is_reset = tables.IsReset(action);
        contexts.push_back({action, is_reset ? map[0] : -1, tables.NextIsConstant(c) ? tables.next[c][0] : -1,
                            is_reset && level.delay, static_cast<int>(next.size())});
        // By the label that is read: the one before where it was kept, else the one after.
        std::vector<int> row = tables.next[c];
        if (!is_reset) {
          for (int x = 0; x < labels; ++x) row[map[x]] = tables.next[c][x];
        }
        next.insert(next.end(), row.begin(), row.end());
      }
    }

    int Step(int c, Number* S) const {
      const Context& context = contexts[c];
      if (kind != LevelKind::kFixed) layers[0].Apply(context.action, S);
      if (kind == LevelKind::kPermutedSlot && context.reset >= 0) {
        const int y = RoundToLabel(Content(0, context.reset, S), labels);
        if (y < 0) return -1;
        layers[1].Apply(1 + y, S + layers[0].K());
      }
      if (context.constant >= 0) return context.constant;
      const int label = Read(S, context.reads_delayed);
      return label < 0 ? -1 : next[context.next + label];
    }

    // H_i of a layer.
    float Content(int layer, int i, const Number* S) const {
      return static_cast<float>(S[i * copies[layer]] + initial[layer][i]);
    }

    float SlotContent(int layer, const Number* S, bool delayed) const {
      return delayed ? delayed_scale * Content(layer, 1, S) : Content(layer, 0, S);
    }

    int Read(const Number* S, bool delayed) const {
      switch (kind) {
        case LevelKind::kFixed:
          return 0;
        case LevelKind::kSlot:
          return RoundToLabel(SlotContent(0, S, delayed), labels);
        case LevelKind::kSign: {
          const float sign = SlotContent(0, S, delayed);
          return sign > 0 ? 0 : sign < 0 ? 1 : -1;
        }
        case LevelKind::kOneHot:
        case LevelKind::kJoint: {
          const int first = delayed ? labels : 0;
          for (int x = 0; x < labels; ++x) {
            if (Content(0, first + x, S) > 0.5f) return x;
          }
          return -1;
        }
        case LevelKind::kPermutedSlot: {
          const float y = SlotContent(1, S + layers[0].K(), delayed);
          for (int x = 0; x < labels; ++x) {
            if (std::abs(Content(0, x, S) - y) < 0.5f) return x;
          }
          return -1;
        }
        case LevelKind::kPoints:
          return codes.Find([&](int i) { return Content(0, i, S); });
        case LevelKind::kRotation: {
          const double angle = std::atan2(Content(0, 1, S), Content(0, 0, S));
          const auto turns = std::lround(angle * labels / (2 * std::numbers::pi));
          return static_cast<int>((turns + labels) % labels);
        }
      }
      return -1;
    }

    LevelKind kind;
    int labels;
    int64_t offset;  // of its layers in S
    CodeTree codes;
    std::vector<SparseLayer<Number>> layers;
    int copies[2] = {1, 1};
    std::vector<Number> initial[2];
    float delayed_scale;
    std::vector<Context> contexts;
    std::vector<int> next;
  };

  std::vector<int> first_context_;
  std::vector<Level> levels_;
  int64_t state_size_ = 0;
};

}  // namespace

template <typename Number>
std::unique_ptr<AutomatonStepper<Number>> MakeStepper(const AutomatonNetwork& network) {
  if (network.is_jit()) return MakeJitStepper<Number>(network);
  return std::make_unique<TableStepper<Number>>(network);
}

template std::unique_ptr<AutomatonStepper<float>> MakeStepper(const AutomatonNetwork&);
template std::unique_ptr<AutomatonStepper<double>> MakeStepper(const AutomatonNetwork&);
template std::unique_ptr<AutomatonStepper<Bf16>> MakeStepper(const AutomatonNetwork&);
template std::unique_ptr<AutomatonStepper<Fixed8>> MakeStepper(const AutomatonNetwork&);

}  // namespace lrnn
