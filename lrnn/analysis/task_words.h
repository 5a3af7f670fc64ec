// The letters of a task's examples.
#pragma once

#include <cstdint>
#include <vector>

#include "lrnn/automata/token_automaton.h"
#include "lrnn/base/rng.h"
#include "lrnn/tasks/task.h"

namespace lrnn {

// The first `letters` letters of the example that `rng` gives, in the numbers of `truth`. An Error when there are
// fewer, or a token is no letter of it.
std::vector<int> TaskWord(const Task& task, const TokenAutomaton& truth, int64_t letters, Rng rng);

}  // namespace lrnn
