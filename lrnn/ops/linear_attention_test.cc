#include "lrnn/ops/linear_attention.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using kernels::LinearAttentionForm;
using torch::Tensor;

struct Case {
  std::vector<int64_t> lengths;
  int64_t H, G, K, V;
  bool per_channel, has_state;
};

// q, k, v, decay [, initial state]
std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) {
  torch::manual_seed(1);
  const int64_t T = Sequences::FromLengths(c.lengths).tokens(), N = static_cast<int64_t>(c.lengths.size());
  Tensor decay =
      2 * torch::rand(c.per_channel ? std::vector<int64_t>{T, c.H, c.K} : std::vector<int64_t>{T, c.H}, dtype) - 1;
  for (int64_t t = 0; t < T; t += 4) decay[t].fill_((t / 4) % 3 - 1);  // exactly -1, 0, 1
  std::vector<Tensor> inputs{torch::randn({T, c.G, c.K}, dtype), torch::randn({T, c.G, c.K}, dtype),
                             torch::randn({T, c.H, c.V}, dtype), decay};
  if (c.has_state) inputs.push_back(torch::randn({N, c.H, c.K, c.V}, dtype));
  return inputs;
}

template <typename Function>
TensorFunction Bind(const Case& c, const Function& function, LinearAttentionForm form = LinearAttentionForm::kAuto) {
  return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto result =
        function(x[0], x[1], x[2], x[3], LinearAttentionOptions{0.6, true, form}, Sequences::FromLengths(c.lengths),
                 c.has_state ? c10::optional<Tensor>(x[4]) : c10::nullopt);
    return {result.o, result.final_state};
  };
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {{1}, 1, 1, 1, 1, false, false},       {{5, 0, 1, 40}, 2, 2, 8, 6, false, true},
      {{7, 18}, 4, 1, 32, 32, false, false}, {{7, 50, 2}, 4, 2, 5, 33, true, true},
      {{20}, 1, 1, 16, 16, true, false},     {{3, 33}, 3, 3, 4, 4, true, true},
  };
  return cases;
}

TEST(LinearAttention, FusedEqualsReference) {
  for (size_t i = 0; i < Cases().size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = Cases()[i];
    for (auto form : {LinearAttentionForm::kAuto, LinearAttentionForm::kSignedLog}) {
      const auto fused = Bind(c, LinearAttention, form), reference = Bind(c, LinearAttentionReference);
      ExpectSameFunction(fused, reference, RandomInputs(c, torch::kFloat64), 1e-12);
      ExpectSameFunction(fused, reference, RandomInputs(c, torch::kFloat32), 1e-5);
    }
  }
}

TEST(LinearAttention, AtenEqualsReference) {
  for (size_t i = 0; i < Cases().size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = Cases()[i];
    ExpectSameFunction(Bind(c, LinearAttentionAten), Bind(c, LinearAttentionReference),
                       RandomInputs(c, torch::kFloat64), 1e-12);
  }
}

TEST(LinearAttention, OtherTypesTakeTheAtenForm) {
  const Case c = Cases()[2];
  ExpectTakesBfloat16(Bind(c, LinearAttention), RandomInputs(c, torch::kFloat32));
}

// Decays of exactly 0 are among the inputs: there the gradient is finite and right.
TEST(LinearAttention, FiniteDifferences) {
  for (const Case& c : {Case{{2, 6}, 2, 1, 3, 2, false, true}, Case{{6, 1}, 2, 2, 2, 3, true, true}}) {
    for (auto form : {LinearAttentionForm::kAuto, LinearAttentionForm::kSignedLog}) {
      ExpectFiniteDifferences(Bind(c, LinearAttention, form), RandomInputs(c, torch::kFloat64));
    }
  }
}

// Through a = 2 s - 1 to the gate's own argument, where a is 0.
TEST(LinearAttention, GradientThroughTheGateIsFiniteAtZero) {
  const Case c{{9}, 1, 1, 2, 2, true, false};
  const auto inputs = RandomInputs(c, torch::kFloat64);
  const auto gated = [&](const std::vector<Tensor>& z) -> std::vector<Tensor> {
    return Bind(c, LinearAttention)({inputs[0], inputs[1], inputs[2], 2 * torch::sigmoid(z[0]) - 1});
  };
  ExpectFiniteDifferences(gated, {torch::zeros({9, 1, 2}, torch::kFloat64)});
}

TEST(LinearAttention, StateCarriedAcrossASplitIsOnePass) {
  const Case c{{61}, 2, 1, 8, 8, true, true};
  const auto split = [](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto part = [&](int64_t begin, int64_t end, const Tensor& state) {
      return LinearAttention(x[0].slice(0, begin, end), x[1].slice(0, begin, end), x[2].slice(0, begin, end),
                             x[3].slice(0, begin, end), LinearAttentionOptions{0.6, true},
                             Sequences::Single(end - begin), state);
    };
    const auto first = part(0, 8, x[4]);
    const auto second = part(8, 61, first.final_state);
    return {torch::cat({first.o, second.o}), second.final_state};
  };
  ExpectSameFunction(split, Bind(c, LinearAttention), RandomInputs(c, torch::kFloat64), 1e-12);
}

TEST(LinearAttention, PackedIsOneByOne) {
  const Case c{{4, 1, 47}, 2, 2, 8, 8, false, true};
  const auto one_by_one = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto sequences = Sequences::FromLengths(c.lengths);
    std::vector<Tensor> o, states;
    for (int64_t i = 0; i < sequences.count(); ++i) {
      const auto rows = [&](const Tensor& t) { return t.slice(0, sequences.begin(i), sequences.end(i)); };
      const auto result =
          LinearAttention(rows(x[0]), rows(x[1]), rows(x[2]), rows(x[3]), LinearAttentionOptions{0.6, true},
                          Sequences::Single(sequences.length(i)), x[4].slice(0, i, i + 1));
      o.push_back(result.o);
      states.push_back(result.final_state);
    }
    return {torch::cat(o), torch::cat(states)};
  };
  ExpectSameFunction(one_by_one, Bind(c, LinearAttention), RandomInputs(c, torch::kFloat64), 1e-12);
}

TEST(LinearAttention, SameBitsForAnyThreadCount) {
  const Case c{{40, 3, 300, 11, 256}, 4, 2, 16, 48, true, true};
  ExpectSameBitsForAnyThreadCount(Bind(c, LinearAttention), RandomInputs(c, torch::kFloat32));
}

// Neither form loses accuracy over a long stream whose state is kept by decays near 1 and -1.
TEST(LinearAttention, TenThousandTokens) {
  torch::manual_seed(2);
  const int64_t T = 10000;
  const Tensor decay = torch::sign(torch::randn({T, 1, 8})) * (1 - 1e-4 * torch::rand({T, 1, 8}));
  const Tensor q = torch::randn({T, 1, 8}), k = torch::randn({T, 1, 8}), v = 0.01 * torch::randn({T, 1, 8});
  const auto run = [&](torch::Dtype dtype, LinearAttentionForm form) {
    return LinearAttention(q.to(dtype), k.to(dtype), v.to(dtype), decay.to(dtype), {.form = form}, Sequences::Single(T))
        .o;
  };
  const Tensor exact = run(torch::kFloat64, LinearAttentionForm::kRecurrent);
  EXPECT_LT(RelativeError(run(torch::kFloat64, LinearAttentionForm::kSignedLog), exact), 1e-10);
  for (auto form : {LinearAttentionForm::kAuto, LinearAttentionForm::kChunked, LinearAttentionForm::kSignedLog}) {
    EXPECT_LT(RelativeError(run(torch::kFloat32, form), exact),
              1e-4);  // 10,000 roundings of 6e-8 in one direction: 6e-4
  }
}

TEST(LinearAttention, FusedDifferentiatesOnce) {
  const Case c{{3}, 1, 1, 2, 2, false, false};
  ExpectFusedDifferentiatesOnce(Bind(c, LinearAttention), Bind(c, LinearAttentionAten),
                                RandomInputs(c, torch::kFloat64), "linear_attention", "LinearAttentionAten");
}

TEST(LinearAttention, NamesTheWrongArgument) {
  const Case c{{3, 4}, 4, 2, 8, 6, true, true};
  const auto inputs = RandomInputs(c, torch::kFloat32);
  const auto message = [&](size_t i, const Tensor& wrong) -> std::string {
    auto changed = inputs;
    changed[i] = wrong;
    return MessageOf([&] { Bind(c, LinearAttention)(changed); });
  };
  EXPECT_EQ(message(0, torch::zeros({6, 2, 8})),
            "[linear_attention] expected q of shape [T, G, K] with T = 7, got [6, 2, 8]");
  EXPECT_EQ(message(0, torch::zeros({7, 2, 8}, torch::kInt64)),
            "[linear_attention] expected q of a floating type, got Long");
  EXPECT_EQ(message(0, torch::zeros({7, 3, 8})), "[linear_attention] expected q of a divisor of 4 heads, got 3");
  EXPECT_EQ(message(1, torch::zeros({7, 2, 9})),
            "[linear_attention] expected k of shape [T, G, K] = [7, 2, 8], got [7, 2, 9]");
  EXPECT_EQ(message(2, torch::zeros({7, 24})), "[linear_attention] expected v of shape [T, H, V], got [7, 24]");
  EXPECT_EQ(message(3, torch::zeros({7, 4, 9})),
            "[linear_attention] expected decay of shape [T, H, K] = [7, 4, 8], got [7, 4, 9]");
  EXPECT_EQ(message(3, torch::zeros({7, 2})), "[linear_attention] expected decay of shape [T, H] = [7, 4], got [7, 2]");
  EXPECT_EQ(message(3, torch::zeros({7, 4}, torch::kFloat64)),
            "[linear_attention] expected decay of q's type Float, got Double");
  EXPECT_THAT(message(4, torch::zeros({3, 4, 8, 6})),
              testing::HasSubstr("initial_state of shape [N, H, K, V] = [2, 4, 8, 6]"));
}

}  // namespace
}  // namespace lrnn::ops
