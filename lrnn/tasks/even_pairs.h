// Even pairs: is the number of unequal neighbours even, that is, are the first and the last bit equal?
//
// Tokens: 0 padding (never drawn), 1 the bit 0, 2 the bit 1. A sequence of that length has length - 1 bits, independent
// and uniform; the answer, predicted at the last bit, is 1 for even and 2 for odd.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo EvenPairsInfo();

}  // namespace lrnn
