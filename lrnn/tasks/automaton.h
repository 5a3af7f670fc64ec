// Any regular language as a task: the state of an automaton, or whether it accepts, after every letter.
//
// Tokens: the automaton's letters in its order, then the targets: <reject> <accept>, or the states <q0> <q1> ...
// `length` counts letters. They are drawn
//   uniform   independently and uniformly;
//   live      uniformly among those after which some word can still be accepted, but on average one a sequence, at a
//             uniformly random place, uniformly from all. (Random words of most languages are hopeless from early on.)
//
//   regex   the minimal automaton of a pattern (automata/regex.h)
//   dfa     an automaton from a file: a transition table (automata/table.h) or, if its name ends in .regex, a pattern
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo RegexInfo();
TaskInfo DfaInfo();

}  // namespace lrnn
