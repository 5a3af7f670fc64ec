#include "lrnn/ops/scan_steps.h"

#include <gtest/gtest.h>

namespace lrnn::ops {
namespace {

using torch::Tensor;

Tensor Column(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64).view({static_cast<int64_t>(values.size()), 1});
}

TEST(StepOrder, TakesTheLongestSequencesFirst) {
  const StepOrder order(Sequences::FromLengths({1, 3, 0, 2}));
  EXPECT_EQ(order.sequences(), (std::vector<int64_t>{1, 3, 0, 2}));
  EXPECT_EQ(order.rows(), (std::vector<int64_t>{1, 4, 0, 2, 5, 3}));
  ASSERT_EQ(order.steps(), 3);
  const auto parts = order.Split(Column({0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(torch::equal(parts[0], Column({1, 4, 0})));
  EXPECT_TRUE(torch::equal(parts[1], Column({2, 5})));
  EXPECT_TRUE(torch::equal(parts[2], Column({3})));
}

TEST(ScanSteps, WalksEverySequenceFromItsStart) {
  const Tensor x = Column({1, 2, 3, 4, 5, 6}), initial = Column({100, 200, 300, 400});
  const StepOrder order(Sequences::FromLengths({1, 3, 0, 2}));
  const auto xs = order.Split(x);
  const auto sums = ScanSteps(initial, order, [&](int64_t t, const Tensor& states) { return states + xs[t]; });
  EXPECT_TRUE(torch::equal(sums, Column({101, 202, 205, 209, 405, 411})));
  const auto none = ScanSteps(initial.slice(0, 0, 0), StepOrder(Sequences::FromLengths({})), {});
  EXPECT_EQ(none.sizes(), (std::vector<int64_t>{0, 1}));
}

TEST(WalkSteps, GivesOutputsInOrderAndWhereEachSequenceEnds) {
  const Tensor x = Column({1, 2, 3, 4, 5, 6}), initial = Column({100, 200, 300, 400});
  const StepOrder order(Sequences::FromLengths({1, 3, 0, 2}));
  const auto xs = order.Split(x);
  const StepsResult walked =
      WalkSteps(initial, x.slice(0, 0, 0), order, [&](int64_t t, const Tensor& states) -> StepResult {
        const Tensor next = states + xs[t];
        return {next, -next};
      });
  EXPECT_TRUE(torch::equal(walked.outputs, Column({-101, -202, -205, -209, -405, -411})));
  EXPECT_TRUE(torch::equal(walked.final_states, Column({101, 209, 300, 411})));
}

TEST(LastStates, AreThoseOfTheLastTokens) {
  const Tensor states = Column({1, 2, 3}), initial = Column({10, 20});
  EXPECT_TRUE(torch::equal(LastStates(states, Sequences::FromLengths({1, 2}), initial), Column({1, 3})));
  EXPECT_TRUE(torch::equal(LastStates(states, Sequences::FromLengths({3, 0}), initial), Column({3, 20})));
  EXPECT_TRUE(torch::equal(LastStates(states, Sequences::FromLengths({0, 3})), Column({0, 3})));
  EXPECT_EQ(LastStates(states.slice(0, 0, 0), Sequences::FromLengths({})).size(0), 0);
}

}  // namespace
}  // namespace lrnn::ops
