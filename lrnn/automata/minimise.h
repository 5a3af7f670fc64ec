// The smallest automaton that does the same.
#pragma once

#include "lrnn/automata/dfa.h"

namespace lrnn {

// The states reachable from the start, numbered in breadth-first order (letters in theirs): the start is 0.
Dfa Trim(const Dfa& dfa);

// The automaton of the same language with the fewest states (Hopcroft's partition refinement, O(k n log n)), numbered
// as in Trim: automata of one language over one list of letters become equal, member by member.
Dfa Minimise(const Dfa& dfa);

}  // namespace lrnn
