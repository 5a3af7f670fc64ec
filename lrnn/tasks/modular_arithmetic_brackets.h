// Modular arithmetic with brackets: an expression, =, and its value mod m.
//
// Tokens: 0 .. m-1 the digits, then + - * ( ) = and padding (never drawn; nor is * unless multiplication is asked for).
// The paper's length L counts the expression, =, the answer and one padding: a sequence is an expression of L - 3
// symbols (bracket_expression.h), then =, where the answer is predicted. Lengths below 5 count as 5.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo ModularArithmeticBracketsInfo();

}  // namespace lrnn
