// The finite automaton behind a task, where it has one.
#pragma once

#include <cstdint>
#include <vector>

#include "lrnn/automata/dfa.h"

namespace lrnn {

// Letter s of the automaton is token s of the task; it reads only these. After some tokens, all that is to be predicted
// depends on the state that they lead to.
struct TaskAutomaton {
  Dfa dfa;
  std::vector<int32_t> answers;  // for each state the token that is right in it, whether or not the task asks there
};

}  // namespace lrnn
