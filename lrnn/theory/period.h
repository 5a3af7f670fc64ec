// What periods a linear RNN has in finite precision when a word comes again and again.
//
// The state is a finite machine then: it ends in a cycle. A model whose states have period p on w w w ... can tell the
// powers of w apart modulo divisors of p, and nothing else: the language (w^m)* is recognised only if m divides p.
//
//   stepwise   H <- fl(A H + B), every operation rounded: what a machine does; the cycle is found exactly
//   cast       the exact H_t, rounded when it is read: what the theorems assume; seen on a stretch of tokens
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lrnn/runtime/automaton_network.h"
#include "lrnn/theory/cycle.h"
#include "lrnn/theory/transitions.h"

namespace lrnn {

inline constexpr std::array<std::string_view, 4> kRoundings = {"fp64", "fp32", "bf16", "fixed8"};

struct PeriodResult {
  std::string_view rounding;
  std::optional<Cycle> stepwise;  // nothing: not closed within the steps
  std::optional<int64_t> cast;    // nothing: none of at most 64, or not known
};

// A compiled automaton, all layers together, in each rounding. `word` is of letters.
std::vector<PeriodResult> FindPeriods(const AutomatonNetwork& network, const std::vector<int>& word, int64_t max_steps);

// One layer by itself; `word` is of its transitions. Without a start H_0 is (1, -1/2, 1/3, ...).
std::vector<PeriodResult> FindPeriods(const TransitionLayer& layer, const std::vector<int>& word, int64_t max_steps);

}  // namespace lrnn
