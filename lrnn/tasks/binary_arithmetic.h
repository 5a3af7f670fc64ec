// Arithmetic with long binary numbers (Delétang et al.).
//
//   binary_addition        a + b    little-endian: the lowest bit first
//   binary_multiplication  a * b    little-endian
//   compute_sqrt           the square root of a, rounded down; big-endian
//
// Tokens of the first two: 0 1 the bits, 2 the operator, 3 <end>, 4 <out>. A question of length n >= 3 is a of i bits,
// i uniform over 1 .. n-2, the operator, and b of n - 1 - i bits; each number is uniform from 1 on. The answer, over n
// + 1 <out> (multiplication: n), is the result without superfluous zeros, then <end>; what follows has no target.
//
// Tokens of compute_sqrt: 0 1 the bits, 2 <out>. The question is a number uniform over 1 .. 2^n - 1 as n bits, the
// answer the (n + 1) / 2 bits of its root.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo BinaryAdditionInfo();
TaskInfo BinaryMultiplicationInfo();
TaskInfo ComputeSqrtInfo();

}  // namespace lrnn
