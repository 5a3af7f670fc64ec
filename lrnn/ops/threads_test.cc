#include "lrnn/ops/threads.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lrnn/base/flush_subnormals.h"
#include "lrnn/ops/linear.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {
namespace {

TEST(UseThreads, SubnormalsAreZeroOnEachOfThem) {
  for (const int threads : {1, 2, 3}) {
    UseThreads(threads);
    EXPECT_EQ(at::get_num_threads(), threads);
    const torch::Tensor x = torch::full({3000, 64}, 1e-30f), weight = torch::full({64, 64}, 1e-10f);
    EXPECT_EQ(Linear(x, weight).eq(0).all().item<bool>(), FlushSubnormals::kHasEffect) << threads;
    EXPECT_EQ((x * 1e-10f).eq(0).all().item<bool>(), FlushSubnormals::kHasEffect) << threads;
  }
}

}  // namespace
}  // namespace lrnn::ops
