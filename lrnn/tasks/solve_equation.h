// Solve an equation with one unknown (Delétang et al.): a bracketed expression of length - 2 symbols
// (bracket_expression.h, with + and -) in which one digit is written x, then = and its value; then one <out>, where x
// is predicted.
//
// Tokens: 0 .. m-1 the digits, then + - * (never drawn) ( ) = x <out>. The unknown is the first digit at or after a
// uniformly drawn place, going round.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo SolveEquationInfo();

}  // namespace lrnn
