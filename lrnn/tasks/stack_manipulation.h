// What is on a stack in the end (Delétang et al.)?
//
// Tokens: 0 1 the bits, 2 pop, 3 push0, 4 push1, 5 <end>, 6 <out>. A question of length n is a stack of s bits from
// bottom to top, s uniform over 1 .. n-1 (1 if n is 1), then n - s actions; bits and actions are uniform, and a pop of
// the empty stack does nothing. The answer, over n + 1 <out>, is the stack from top to bottom and <end>; what follows
// it has no target.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo StackManipulationInfo();

}  // namespace lrnn
