// Whether a trained model answers as an automaton does: a search over the bits of its state.
//
// A model's answer is the token with the largest logit after the last letter of a word. Breadth-first over pairs (state
// of the automaton, bits of all numbers that the model remembers), every letter from every pair, with the Session that
// `lrnn run` uses. Three ends:
//
//   closed      every pair that can be reached was seen and every answer was right: a proof for words of every length,
//               on this code and this machine's instructions (another SIMD target may round otherwise)
//   wrong       a shortest word whose answer is wrong
//   the budget  all words up to some length are right, nothing is known of longer ones
//
// Most trained models end in the third way: their states drift by some units in the last place with every letter and
// so never come back. A snapped model (lrnn/analysis/snap.h) may close.
//
// The empty word has no answer and is not asked.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lrnn/automata/token_automaton.h"
#include "lrnn/runtime/model.h"

namespace lrnn {

struct ModelSearchLimits {
  int64_t max_nodes = 1'000'000;
  int64_t max_bytes = int64_t{512} << 20;  // of saved states
};

struct ModelCertificate {
  enum class End { kClosed, kWrong, kBudget };
  End end;
  int64_t nodes = 0;  // different pairs
  int64_t steps = 0;  // answers that were compared
  int64_t depth = 0;  // all words up to this length are right; the longest that was needed when it closed
  // The smallest distance of the right answer's logit from the largest other one.
  double margin = std::numeric_limits<double>::infinity();
  std::vector<int> word;  // letters of the shortest wrong word
  int32_t answer = -1;    // to it, and what it should be
  int32_t expected = -1;

  bool proved() const { return end == End::kClosed; }
};

ModelCertificate CertifyModel(const RuntimeModel& model, const TokenAutomaton& truth,
                              const ModelSearchLimits& limits = {});

}  // namespace lrnn
