// How many threads torch, oneDNN and the kernels work on.
#pragma once

namespace lrnn::ops {

// For everything that this thread starts from now on; at least 1. Numbers too small to be normal become 0 on all of
// them (lrnn/base/flush_subnormals.h): gradients that a recurrence has almost forgotten are multiplied with weights,
// too.
void UseThreads(int threads);

}  // namespace lrnn::ops
