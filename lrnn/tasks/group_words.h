// Group word problems: the running product of group elements, at every position (Merrill et al.; the paper's S5 and
// Z60).
//
//   y_0 = identity    y_t = y_{t-1} * x_t    (a * b)[i] = a[b[i]]
//
// x_t is uniform over all elements, or over those that move few points, or over the generators; y_t over the whole
// group. Elements are numbered as in automata/finite_group.h: S_n in lexicographic order, 0 the identity.
//
// `length` counts tokens after <bos>. With n tokens per element each x_t is followed by n - 1 times the token _, and
// y_t is predicted from the last of the n on; before the first, the identity:
//
//   read      x1  _   _   _   x2  _   _   _        n = 4
//   predict   0   0   0   y1  y1  y1  y1  y2
//
// Tokens: 0 .. |G|-1 the elements, |G| the token _ (only if n > 1), then <pad> <bos> <unk> <eos> <sep> <cls> <mask>, of
// which only <bos> occurs: first in every sequence, where it is itself the target. bos = false leaves all seven out.
// A sequence counts as right when all its predictions are.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo GroupWordsInfo();

}  // namespace lrnn
