#include "lrnn/ops/delta_rule.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

struct Case {
  std::vector<int64_t> lengths;
  int64_t H, K, V, n;
  bool has_decay, has_state;
};

// q, k, v, beta [, decay] [, initial state]
std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) {
  torch::manual_seed(1);
  const int64_t T = Sequences::FromLengths(c.lengths).tokens(), N = static_cast<int64_t>(c.lengths.size());
  Tensor k = torch::randn({T, c.n, c.H, c.K}, dtype);
  k = k / k.norm(2, -1, true);
  if (T > 2) k[2].zero_();
  Tensor beta = 2 * torch::rand({T, c.n, c.H}, dtype);
  for (int64_t t = 0; t < T; t += 3) beta[t].fill_((t / 3) % 3);  // exactly 0, 1, 2
  std::vector<Tensor> inputs{torch::randn({T, c.H, c.K}, dtype), k, torch::randn({T, c.n, c.H, c.V}, dtype), beta};
  if (c.has_decay) {
    Tensor decay = torch::rand({T, c.H}, dtype);
    for (int64_t t = 0; t < T; t += 4) decay[t].fill_((t / 4) % 2);  // exactly 0, 1
    inputs.push_back(decay);
  }
  if (c.has_state) inputs.push_back(torch::randn({N, c.H, c.K, c.V}, dtype));
  return inputs;
}

template <typename Form>
TensorFunction Bind(const Case& c, const Form& form) {
  return [c, form](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const c10::optional<Tensor> none;
    const auto result =
        form(x[0], x[1], x[2], x[3], c.has_decay ? c10::optional<Tensor>(x[4]) : none, DeltaRuleOptions{0.6, true},
             Sequences::FromLengths(c.lengths), c.has_state ? c10::optional<Tensor>(x[c.has_decay ? 5 : 4]) : none);
    return {result.o, result.final_state};
  };
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {{1}, 1, 1, 1, 1, false, false},       {{5, 0, 1, 40}, 2, 8, 6, 1, false, true},
      {{7, 18}, 2, 32, 32, 1, false, false}, {{7, 18, 2}, 3, 5, 33, 2, true, true},
      {{20}, 1, 16, 16, 4, false, true},     {{3, 33}, 2, 4, 4, 1, true, false},
  };
  return cases;
}

TEST(DeltaRule, FusedEqualsReference) {
  for (size_t i = 0; i < Cases().size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = Cases()[i];
    ExpectSameFunction(Bind(c, DeltaRule), Bind(c, DeltaRuleReference), RandomInputs(c, torch::kFloat64), 1e-12);
    ExpectSameFunction(Bind(c, DeltaRule), Bind(c, DeltaRuleReference), RandomInputs(c, torch::kFloat32), 2e-5);
  }
}

TEST(DeltaRule, AtenEqualsReference) {
  for (size_t i = 0; i < Cases().size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = Cases()[i];
    ExpectSameFunction(Bind(c, DeltaRuleAten), Bind(c, DeltaRuleReference), RandomInputs(c, torch::kFloat64), 1e-12);
  }
}

TEST(DeltaRule, OtherTypesTakeTheAtenForm) {
  const Case c = Cases()[2];
  ExpectTakesBfloat16(Bind(c, DeltaRule), RandomInputs(c, torch::kFloat32));
}

TEST(DeltaRule, FiniteDifferences) {
  for (const Case& c : {Case{{2, 3}, 1, 3, 2, 1, false, true}, Case{{3, 1}, 2, 2, 3, 2, true, true}}) {
    ExpectFiniteDifferences(Bind(c, DeltaRule), RandomInputs(c, torch::kFloat64));
  }
}

TEST(DeltaRule, StateCarriedAcrossASplitIsOnePass) {
  const Case c{{21}, 2, 8, 8, 2, true, true};
  const auto split = [](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto part = [&](int64_t begin, int64_t end, const Tensor& state) {
      return DeltaRule(x[0].slice(0, begin, end), x[1].slice(0, begin, end), x[2].slice(0, begin, end),
                       x[3].slice(0, begin, end), x[4].slice(0, begin, end), DeltaRuleOptions{0.6, true},
                       Sequences::Single(end - begin), state);
    };
    const auto first = part(0, 8, x[5]);
    const auto second = part(8, 21, first.final_state);
    return {torch::cat({first.o, second.o}), second.final_state};
  };
  ExpectSameFunction(split, Bind(c, DeltaRule), RandomInputs(c, torch::kFloat64), 1e-12);
}

TEST(DeltaRule, PackedIsOneByOne) {
  const Case c{{4, 1, 17}, 2, 8, 8, 1, false, true};
  const auto one_by_one = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto sequences = Sequences::FromLengths(c.lengths);
    std::vector<Tensor> o, states;
    for (int64_t i = 0; i < sequences.count(); ++i) {
      const auto rows = [&](const Tensor& t) { return t.slice(0, sequences.begin(i), sequences.end(i)); };
      const auto result =
          DeltaRule(rows(x[0]), rows(x[1]), rows(x[2]), rows(x[3]), c10::nullopt, DeltaRuleOptions{0.6, true},
                    Sequences::Single(sequences.length(i)), x[4].slice(0, i, i + 1));
      o.push_back(result.o);
      states.push_back(result.final_state);
    }
    return {torch::cat(o), torch::cat(states)};
  };
  ExpectSameFunction(one_by_one, Bind(c, DeltaRule), RandomInputs(c, torch::kFloat64), 1e-14);
}

TEST(DeltaRule, SameBitsForAnyThreadCount) {
  const Case c{{40, 3, 300, 11, 256}, 3, 16, 48, 1, true, true};
  ExpectSameBitsForAnyThreadCount(Bind(c, DeltaRule), RandomInputs(c, torch::kFloat32));
}

// DeltaNet's own case: reflections with beta = 2. The error against double must not grow beyond the sum of roundings.
TEST(DeltaRule, TenThousandTokens) {
  torch::manual_seed(2);
  const int64_t T = 10000;
  Tensor k = torch::randn({T, 1, 1, 8}, torch::kFloat64);
  k = (k / k.norm(2, -1, true)).to(torch::kFloat32);
  const Tensor q = torch::randn({T, 1, 8}), v = 0.01 * torch::randn({T, 1, 1, 8}), beta = torch::full({T, 1, 1}, 2.0);
  const auto run = [&](torch::Dtype dtype) {
    return DeltaRule(q.to(dtype), k.to(dtype), v.to(dtype), beta.to(dtype), c10::nullopt, {}, Sequences::Single(T)).o;
  };
  const Tensor got = run(torch::kFloat32), exact = run(torch::kFloat64);
  EXPECT_TRUE(torch::isfinite(got).all().item<bool>());
  EXPECT_LT(RelativeError(got, exact), 1e-3);
}

TEST(DeltaRule, FusedDifferentiatesOnce) {
  const Case c{{3}, 1, 2, 2, 1, false, false};
  ExpectFusedDifferentiatesOnce(Bind(c, DeltaRule), Bind(c, DeltaRuleAten), RandomInputs(c, torch::kFloat64),
                                "delta_rule", "DeltaRuleAten");
}

TEST(DeltaRule, NamesTheWrongArgument) {
  const Case c{{3, 4}, 2, 8, 6, 1, true, true};
  const auto inputs = RandomInputs(c, torch::kFloat32);
  const auto message = [&](size_t i, const Tensor& wrong) -> std::string {
    auto changed = inputs;
    changed[i] = wrong;
    return MessageOf([&] { Bind(c, DeltaRule)(changed); });
  };
  EXPECT_EQ(message(0, torch::zeros({6, 2, 8})),
            "[delta_rule] expected q of shape [T, H, K] with T = 7, got [6, 2, 8]");
  EXPECT_EQ(message(0, torch::zeros({7, 2, 8}, torch::kInt64)), "[delta_rule] expected q of a floating type, got Long");
  EXPECT_EQ(message(1, torch::zeros({7, 2, 8})), "[delta_rule] expected k of shape [T, n_h, H, K], got [7, 2, 8]");
  EXPECT_EQ(message(1, torch::zeros({7, 1, 2, 9})),
            "[delta_rule] expected k of shape [T, n_h, H, K] = [7, 1, 2, 8], got [7, 1, 2, 9]");
  EXPECT_EQ(message(2, torch::zeros({7, 2, 6})), "[delta_rule] expected v of shape [T, n_h, H, V], got [7, 2, 6]");
  EXPECT_EQ(message(3, torch::zeros({7, 1, 3})),
            "[delta_rule] expected beta of shape [T, n_h, H] = [7, 1, 2], got [7, 1, 3]");
  EXPECT_EQ(message(4, torch::zeros({7, 2}, torch::kFloat64)),
            "[delta_rule] expected decay of q's type Float, got Double");
  EXPECT_THAT(message(5, torch::zeros({3, 2, 8, 6})),
              testing::HasSubstr("initial_state of shape [N, H, K, V] = [2, 2, 8, 6]"));
}

}  // namespace
}  // namespace lrnn::ops
