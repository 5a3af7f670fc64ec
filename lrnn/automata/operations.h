// Boolean operations on the languages of automata, and their comparison.
//
// Two automata must have the same letters; the order may differ, results keep that of the first.
#pragma once

#include <optional>
#include <vector>

#include "lrnn/automata/dfa.h"

namespace lrnn {

enum class Combine { kIntersection, kUnion, kDifference, kSymmetricDifference };

// The words of a and b combined; only the reachable pairs of states, numbered in breadth-first order, not minimised.
// Throws Error beyond max_states pairs.
Dfa Product(const Dfa& a, const Dfa& b, Combine combine, int max_states = 1'000'000);

// The words that dfa does not accept: the same automaton with the accepting states exchanged.
Dfa Complement(const Dfa& dfa);

// A shortest word (in a's letter numbers; of these the first in letter order) that one of the two accepts and the other
// does not, or nothing when they accept the same words. Throws Error beyond max_pairs pairs of states.
std::optional<std::vector<int>> Counterexample(const Dfa& a, const Dfa& b, int max_pairs = 10'000'000);

bool Equivalent(const Dfa& a, const Dfa& b);

// A shortest accepted word, or nothing when the language is empty.
std::optional<std::vector<int>> ShortestWord(const Dfa& dfa);

}  // namespace lrnn
