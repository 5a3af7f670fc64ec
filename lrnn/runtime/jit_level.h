// One level of a jit cascade: a `permuted_slot` with delay (lrnn/runtime/automaton_network.h) whose factors are written
// when they are needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "lrnn/runtime/householder_factor.h"

namespace lrnn {

template <typename Number>
class JitLevel {
 public:
  JitLevel(int labels, KeyStyle keys)
      : labels_(labels),
        copies_(keys == KeyStyle::kDup ? 2 : 1),
        content_(keys, copies_, Level(labels).InitialContent(0)),
        slot_(keys, copies_, Level(labels).InitialContent(1)) {}

  int ContentSize() const { return copies_ * labels_; }
  int SlotSize() const { return copies_ * 2; }
  int64_t StateSize() const { return ContentSize() + SlotSize(); }  // the content, then the slot

  // Both give the labels before and after the token, -1 when the layers hold none.
  std::pair<int, int> Permute(std::span<const int> permutation, Number* S) const {
    MoveContent(permutation, S);
    const int label = Find(S, SlotContent(S + ContentSize(), 0));
    const auto from = std::find(permutation.begin(), permutation.end(), label);
    return label < 0 ? std::pair(-1, -1) : std::pair(static_cast<int>(from - permutation.begin()), label);
  }
  std::pair<int, int> Reset(int label, Number* S) const {
    Write(std::round(Content(S, label)), S + ContentSize());
    return {Find(S, SlotContent(S + ContentSize(), 1)), label};
  }

  // The first layer: its micro-steps, and what it holds at a place.
  void MoveContent(std::span<const int> permutation, Number* S) const {
    FactorWriter::Factors factors;
    content_.Permute(permutation, factors);
    ApplyFactors(factors, S);
  }
  float Content(const Number* S, int place) const {
    return static_cast<float>(S[place * copies_] + Number(static_cast<float>(place)));
  }

  // The second layer: its micro-steps, and what it holds now (0) and held before the last write (1).
  void Write(float y, Number* slot) const {
    FactorWriter::Factors factors;
    slot_.Swap(0, 1, factors);
    slot_.Write(0, y, factors);
    ApplyFactors(factors, slot);
  }
  float SlotContent(const Number* slot, int which) const { return static_cast<float>(slot[which * copies_]); }

  // Where the content is y.
  int Find(const Number* S, float y) const {
    for (int x = 0; x < labels_; ++x) {
      if (std::abs(Content(S, x) - y) < 0.5f) return x;
    }
    return -1;
  }

 private:
  static AutomatonLevel Level(int labels) {
    AutomatonLevel level;
    level.kind = LevelKind::kPermutedSlot;
    level.tables.labels = labels;
    level.delay = true;
    return level;
  }

  int labels_;
  int copies_;
  FactorWriter content_, slot_;
};

}  // namespace lrnn
