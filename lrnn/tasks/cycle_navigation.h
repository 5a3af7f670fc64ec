// Cycle navigation: where on a cycle of C places is one after these steps?
//
// Tokens: 0 padding (never drawn), 1 stay, 2 a step forward, 3 a step back, 4 + p the place p. A sequence of that
// length has length - 1 steps, independent and uniform, from place 0; the answer, predicted at the last step, is 4 +
// (sum of the steps mod C). C = 5 in Delétang et al.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo CycleNavigationInfo();

}  // namespace lrnn
