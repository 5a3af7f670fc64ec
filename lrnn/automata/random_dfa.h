// Random automata for tests.
#pragma once

#include "lrnn/automata/dfa.h"
#include "lrnn/base/rng.h"

namespace lrnn {

// Each transition of `states` states and each accepting flag drawn uniformly, then trimmed: given how many states it
// has (1 .. states), every accessible automaton is equally likely. Letters are a, b, ..., z, l26, ...
Dfa RandomDfa(Rng& rng, int states, int letters);

}  // namespace lrnn
