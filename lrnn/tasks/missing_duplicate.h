// The missing symbol of a string that is written twice (Delétang et al., "missing duplicate string"): w w with one of
// its symbols replaced by ?, then one <out>, where that symbol is predicted.
//
// Tokens: 0 1 the bits, 2 ?, 3 padding, 4 <out>. w has length / 2 bits, uniform, rounded down; an odd length ends in
// one padding. The missing place is uniform over both copies.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo MissingDuplicateInfo();

}  // namespace lrnn
