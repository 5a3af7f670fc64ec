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

// How many maps the words make, the identity of the empty word included; nothing when there are more than max_size.
std::optional<int64_t> TransitionMonoidSize(const Dfa& dfa, int64_t max_size = 1'000'000);

// Whether no word permutes some states in a cycle of length two or more. Counts all states: for the question whether a
// *language* is star-free, minimise first. Deciding this is PSPACE-complete; the search goes through the sets Q.w
// (at most 2^n, not n^n maps) and gives nothing when there are more than max_images of them and no pair of states is
// exchanged by a word.
std::optional<bool> IsAperiodic(const Dfa& dfa, int64_t max_images = 200'000);

}  // namespace lrnn
