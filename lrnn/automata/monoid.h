// The transition monoid of an automaton: the maps q -> q.w of all words w, under composition.
//
// For the minimal automaton it is the syntactic monoid of the language, and the language is star-free (definable in
// first-order logic) if and only if the monoid is aperiodic: no word permutes two or more states cyclically
// (Schützenberger 1965).
#pragma once

#include <cstdint>
#include <optional>

#include "lrnn/automata/dfa.h"

namespace lrnn {

// How many maps the words make, the identity of the empty word included; nothing when there are more than max_size, or
// when they would take more than 256 MB.
std::optional<int64_t> TransitionMonoidSize(const Dfa& dfa, int64_t max_size = 1'000'000);

// Whether no word permutes some states in a cycle of length two or more. Counts all states: for the question whether a
// *language* is star-free, minimise first. Deciding this is PSPACE-complete. The search looks for two states that a
// word exchanges (up to 1,024 states), then goes through the sets Q.w: at most 2^n of them, where there may be n^n
// maps. It gives nothing when there are more than max_images sets, or when they would take more than 256 MB.
std::optional<bool> IsAperiodic(const Dfa& dfa, int64_t max_images = 200'000);

}  // namespace lrnn
