#include "lrnn/io/skeleton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

TEST(Skeleton, KnowsTheFieldsTwo) {
  EXPECT_EQ(SkeletonOf("delta_net").root, "model");
  EXPECT_EQ(SkeletonOf("mamba").mixer, "mixer");
  EXPECT_THAT(
      [] { SkeletonOf("gpt2"); },
      testing::ThrowsMessage<Error>(testing::HasSubstr("unknown model_type \"gpt2\" (known: attention, delta_net, ")));
}

TEST(Skeleton, IntermediateSizesOfTheFactSheet) {
  EXPECT_EQ(DefaultIntermediateSize(128, 4), 512);
  EXPECT_EQ(DefaultIntermediateSize(1024, 4), 2816);
  EXPECT_EQ(DefaultIntermediateSize(2048, 4), 5632);
}

}  // namespace
}  // namespace lrnn
