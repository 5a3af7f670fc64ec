#include "lrnn/ops/arguments.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn::ops {
namespace {

TEST(Arguments, WhatIsWrongIsNamed) {
  const torch::Tensor q = torch::zeros({5, 2, 3});
  const ArgumentCheck check("delta_rule", "q", q);
  check.Shape("k", torch::zeros({5, 2, 3}), "[T, H, K]", {5, 2, 3});
  EXPECT_EQ(MessageOf([&] {
              check.Shape("k", torch::zeros({5, 3}), "[T, H, K]", {5, 2, 3});
            }),
            "[delta_rule] expected k of shape [T, H, K] = [5, 2, 3], got [5, 3]");
  EXPECT_EQ(MessageOf([&] {
              check.Shape("k", torch::zeros({5, 2}, torch::kFloat64), "[T, H]", {5, 2});
            }),
            "[delta_rule] expected k of q's type Float, got Double");
  EXPECT_EQ(MessageOf([&] { check.TypeAndDevice("k", torch::zeros({1}, torch::kMeta)); }),
            "[delta_rule] expected k on q's device cpu, got meta");
  EXPECT_EQ(MessageOf([&] { ArgumentCheck("delta_rule", "q", torch::zeros({1}, torch::kInt64)); }),
            "[delta_rule] expected q of a floating type, got Long");
}

TEST(Arguments, WhatIsMissingIsFine) {
  const torch::Tensor q = torch::zeros({5});
  const c10::optional<torch::Tensor> none, there = torch::zeros({3});
  const ArgumentCheck check("scan", "q", q);
  check.Shape("gate", none, "[T]", {5});
  EXPECT_EQ(MessageOf([&] { check.Shape("gate", there, "[T]", {5}); }),
            "[scan] expected gate of shape [T] = [5], got [3]");
  EXPECT_FALSE(Dense(none).defined());
  EXPECT_FALSE(Dense(torch::Tensor()).defined());
  EXPECT_EQ(Data<float>(torch::Tensor()), nullptr);
  EXPECT_TRUE(Dense(torch::zeros({2, 3}).t()).is_contiguous());
}

TEST(Arguments, KernelsTakeFloatAndDoubleOnTheCpu) {
  EXPECT_TRUE(HasKernel(torch::zeros({1})));
  EXPECT_TRUE(HasKernel(torch::zeros({1}, torch::kFloat64)));
  EXPECT_FALSE(HasKernel(torch::zeros({1}, torch::kBFloat16)));
  EXPECT_FALSE(HasKernel(torch::zeros({1}, torch::kMeta)));
}

}  // namespace
}  // namespace lrnn::ops
