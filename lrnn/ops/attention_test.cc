#include "lrnn/ops/attention.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

struct Case {
  std::vector<int64_t> queries, keys;
  int64_t H, K, V;
};

std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) {
  torch::manual_seed(1);
  const int64_t T = Sequences::FromLengths(c.queries).tokens(), S = Sequences::FromLengths(c.keys).tokens();
  return {torch::randn({T, c.H, c.K}, dtype), torch::randn({S, c.H, c.K}, dtype), torch::randn({S, c.H, c.V}, dtype)};
}

template <typename Function>
TensorFunction Bind(const Case& c, const Function& function) {
  return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    return {function(x[0], x[1], x[2], 0.7, Sequences::FromLengths(c.queries), Sequences::FromLengths(c.keys))};
  };
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {{1}, {1}, 1, 1, 1}, {{5, 0, 40}, {5, 0, 40}, 2, 8, 6}, {{7, 0, 33, 1}, {9, 4, 100, 1}, 3, 5, 7}};
  return cases;
}

TEST(Attention, AllFormsAreEqual) {
  for (const Case& c : Cases()) {
    const auto reference = Bind(c, AttentionReference);
    ExpectSameFunction(Bind(c, Attention), reference, RandomInputs(c, torch::kFloat64), 1e-12);
    ExpectSameFunction(Bind(c, Attention), reference, RandomInputs(c, torch::kFloat32), 1e-5);
    ExpectSameFunction(Bind(c, AttentionAten), reference, RandomInputs(c, torch::kFloat64), 1e-12);
  }
}

TEST(Attention, FiniteDifferences) {
  const Case c{{3, 2}, {3, 4}, 2, 3, 2};
  ExpectFiniteDifferences(Bind(c, Attention), RandomInputs(c, torch::kFloat64));
}

// q, k and v as parts of one product need no copies.
TEST(Attention, SlicesOfAWiderMatrix) {
  torch::manual_seed(2);
  const Tensor all = torch::randn({12, 3 * 2 * 4}, torch::kFloat64);
  const auto parts = all.split(8, 1);
  const auto sequences = Sequences::FromLengths({5, 7});
  const auto run = [&](bool copy) {
    const auto part = [&](int i) { return (copy ? parts[i].contiguous() : parts[i]).view({12, 2, 4}); };
    return Attention(part(0), part(1), part(2), 0.5, sequences, sequences);
  };
  EXPECT_TRUE(torch::equal(run(false), run(true)));
}

TEST(Attention, OtherTypesTakeTheAtenForm) {
  const Case c = Cases()[1];
  ExpectTakesBfloat16(Bind(c, Attention), RandomInputs(c, torch::kFloat32));
}

TEST(Attention, FusedDifferentiatesOnce) {
  const Case c{{3}, {4}, 1, 2, 2};
  ExpectFusedDifferentiatesOnce(Bind(c, Attention), Bind(c, AttentionAten), RandomInputs(c, torch::kFloat64),
                                "attention", "AttentionAten");
}

TEST(Attention, SameBitsForAnyThreadCount) {
  const Case c{{40, 3, 300}, {40, 5, 300}, 3, 16, 24};
  ExpectSameBitsForAnyThreadCount(Bind(c, Attention), RandomInputs(c, torch::kFloat32));
}

TEST(Attention, NamesTheWrongArgument) {
  const auto run = [](const Tensor& q, const Tensor& k, const Tensor& v, const std::vector<int64_t>& keys = {2, 2},
                      double scale = 1) {
    return MessageOf([&] { Attention(q, k, v, scale, Sequences::FromLengths({1, 2}), Sequences::FromLengths(keys)); });
  };
  const Tensor q = torch::zeros({3, 2, 4}), k = torch::zeros({4, 2, 4}), v = torch::zeros({4, 2, 5});
  EXPECT_EQ(run(k, k, v), "[attention] expected q of shape [T, H, K] with T = 3, got [4, 2, 4]");
  EXPECT_EQ(run(q.to(torch::kInt32), k, v), "[attention] expected q of a floating type, got Int");
  EXPECT_EQ(run(q, q, v), "[attention] expected k of shape [S, H, K] = [4, 2, 4], got [3, 2, 4]");
  EXPECT_EQ(run(q, k, v[0]), "[attention] expected v of shape [S, H, V], got [2, 5]");
  EXPECT_EQ(run(q, k, v.slice(1, 1)), "[attention] expected v of shape [S, H, V] = [4, 2, 5], got [4, 1, 5]");
  EXPECT_EQ(run(q, k, v.to(torch::kFloat64)), "[attention] expected v of q's type Float, got Double");
  EXPECT_EQ(run(q, k, v, {4}), "[attention] expected keys of 2 sequences, got 1");
  EXPECT_EQ(run(q, k, v, {3, 1}), "[attention] expected at least 2 keys in sequence 1, got 1");
  EXPECT_EQ(run(q, k, v, {2, 2}, -1), "[attention] expected a positive scale, got -1");
}

}  // namespace
}  // namespace lrnn::ops
