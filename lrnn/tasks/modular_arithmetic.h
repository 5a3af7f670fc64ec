// Modular arithmetic without brackets: d op d op ... d =, and the value mod m.
//
// Tokens: 0 padding (never drawn), 1 +, 2 -, 3 *, 4 =, 5 + d the digit d of 0 .. m-1. Lengths are odd: a sequence of
// length L has (L - 1) / 2 digits, uniform, with operators, uniform, between them, and ends in =, where the answer is
// predicted: the value with * before + and -, as a remainder from 0 to m - 1. A range of lengths A:B means the odd
// lengths 2 u - 1 with u uniform from (A + 1) / 2 to (B + 1) / 2, rounded down: 3:40 is 3, 5, ..., 39.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo ModularArithmeticInfo();

}  // namespace lrnn
