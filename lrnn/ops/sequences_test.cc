#include "lrnn/ops/sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn::ops {
namespace {

TEST(Sequences, FromLengthsAndFromTensor) {
  const auto sequences = Sequences::FromLengths({3, 0, 5});
  EXPECT_EQ(sequences.count(), 3);
  EXPECT_EQ(sequences.tokens(), 8);
  EXPECT_EQ(sequences.max_length(), 5);
  EXPECT_EQ(sequences.begin(2), 3);
  EXPECT_EQ(sequences.length(1), 0);
  EXPECT_EQ(Sequences(torch::tensor({0, 3, 3, 8}, torch::kInt64)).cu_seqlens(), sequences.cu_seqlens());
}

TEST(Sequences, MayKnowTheirTokens) {
  const auto sequences = Sequences::FromLengths({2, 1});
  EXPECT_FALSE(sequences.ids().defined());
  const auto with_ids = sequences.WithIds(torch::tensor({5, 6, 7}, torch::kInt64));
  EXPECT_EQ(with_ids.cu_seqlens(), sequences.cu_seqlens());
  EXPECT_EQ(with_ids.ids()[2].item<int64_t>(), 7);
  EXPECT_EQ(MessageOf([&] { sequences.WithIds(torch::zeros({4}, torch::kInt64)); }),
            "[Sequences] expected 3 ids in one dimension, got [4]");
}

TEST(Sequences, RefusesWhatIsNotABoundaryList) {
  EXPECT_EQ(MessageOf([] {
              Sequences(std::vector<int32_t>{0, 4, 3});
            }),
            "[Sequences] expected cu_seqlens that never decrease, got 3 after 4");
  EXPECT_EQ(MessageOf([] {
              Sequences(std::vector<int32_t>{1, 4});
            }),
            "[Sequences] expected cu_seqlens to start at 0, got 1");
  EXPECT_THAT(MessageOf([] { Sequences(torch::zeros({2, 2})); }), testing::HasSubstr("vector of integers"));
  EXPECT_THAT(MessageOf([] { Sequences::FromLengths({-1}); }), testing::HasSubstr("got -1"));
}

}  // namespace
}  // namespace lrnn::ops
