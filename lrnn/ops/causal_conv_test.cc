#include "lrnn/ops/causal_conv.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = CausalConvResult (*)(const Tensor&, const Tensor&, const c10::optional<Tensor>&, const CausalConvOptions&,
                                  const Sequences&, const c10::optional<Tensor>&);

struct Case {
  std::vector<int64_t> lengths;
  int64_t D = 6;
  int64_t W = 4;
  bool silu = true;
  bool bias = true;
  bool states = true;
};

// Length 1, empty sequences, sequences shorter than the kernel, tiles of more than 128 rows, widths 1 and 4 and others.
std::vector<Case> Cases() {
  return {{.lengths = {7}},
          {.lengths = {1, 0, 2, 9, 3}},
          {.lengths = {1, 0, 2, 9, 3}, .silu = false},
          {.lengths = {1, 0, 2, 9, 3}, .bias = false},
          {.lengths = {1, 0, 2, 9, 3}, .states = false},
          {.lengths = {4, 5}, .D = 17, .W = 1},
          {.lengths = {4, 5}, .W = 1, .states = false},
          {.lengths = {2, 6}, .W = 7},
          {.lengths = {0, 0}},
          {.lengths = {}},
          {.lengths = {125, 150}, .D = 9, .W = 3}};
}

// x, weight, then bias and initial_state where the case has them.
std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) {
  torch::manual_seed(1);
  const auto sequences = Sequences::FromLengths(c.lengths);
  std::vector<Tensor> inputs{torch::randn({sequences.tokens(), c.D}, dtype), torch::randn({c.D, c.W}, dtype)};
  if (c.bias) inputs.push_back(torch::randn(c.D, dtype));
  if (c.states) inputs.push_back(torch::randn({sequences.count(), c.W - 1, c.D}, dtype));
  return inputs;
}

TensorFunction Bind(const Case& c, Form form) {
  return [c, form](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const auto bias = c.bias ? c10::make_optional(in[2]) : c10::nullopt;
    const auto initial = c.states ? c10::make_optional(in.back()) : c10::nullopt;
    const auto result = form(in[0], in[1], bias, {.silu = c.silu, .return_final_state = c.states},
                             Sequences::FromLengths(c.lengths), initial);
    if (!c.states) {
      EXPECT_FALSE(result.final_state.defined());
      return {result.y};
    }
    return {result.y, result.final_state};
  };
}

TEST(CausalConv, EqualsReference) {
  int number = 0;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(number++);
    ExpectSameFunction(Bind(c, CausalConv), Bind(c, CausalConvReference), RandomInputs(c, torch::kFloat64), 1e-13);
    ExpectSameFunction(Bind(c, CausalConv), Bind(c, CausalConvReference), RandomInputs(c, torch::kFloat32), 1e-5);
  }
}

TEST(CausalConv, AtenEqualsReference) {
  int number = 0;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(number++);
    ExpectSameFunction(Bind(c, CausalConvAten), Bind(c, CausalConvReference), RandomInputs(c, torch::kFloat64), 1e-13);
  }
}

TEST(CausalConv, FiniteDifferences) {
  for (const Case& c : {Case{.lengths = {3, 0, 1}, .D = 2, .W = 3}, Case{.lengths = {2, 4}, .D = 3, .W = 1},
                        Case{.lengths = {5}, .D = 2, .W = 4, .silu = false}}) {
    ExpectFiniteDifferences(Bind(c, CausalConv), RandomInputs(c, torch::kFloat64));
  }
}

TEST(CausalConv, StateCarriedAcrossASplitIsOnePass) {
  const Case c{.lengths = {21}};
  const auto inputs = RandomInputs(c, torch::kFloat64);
  for (int64_t at : {0, 1, 2, 8, 20, 21}) {  // also shorter than the history
    SCOPED_TRACE(at);
    const auto split = [at](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      const auto part = [&](int64_t begin, int64_t end, const Tensor& state) {
        return CausalConv(in[0].slice(0, begin, end), in[1], in[2], {.return_final_state = true},
                          Sequences::Single(end - begin), state);
      };
      const auto first = part(0, at, in[3]);
      const auto second = part(at, 21, first.final_state);
      return {torch::cat({first.y, second.y}), second.final_state};
    };
    ExpectSameFunction(split, Bind(c, CausalConv), inputs, 1e-13);
  }
}

TEST(CausalConv, PackedIsOneByOne) {
  const Case c{.lengths = {4, 1, 0, 17}};
  const auto one_by_one = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const auto sequences = Sequences::FromLengths(c.lengths);
    std::vector<Tensor> y, states;
    for (int64_t i = 0; i < sequences.count(); ++i) {
      const auto result =
          CausalConv(in[0].slice(0, sequences.begin(i), sequences.end(i)), in[1], in[2], {.return_final_state = true},
                     Sequences::Single(sequences.length(i)), in[3].slice(0, i, i + 1));
      y.push_back(result.y);
      states.push_back(result.final_state);
    }
    return {torch::cat(y), torch::cat(states)};
  };
  ExpectSameFunction(one_by_one, Bind(c, CausalConv), RandomInputs(c, torch::kFloat64), 1e-13);
}

TEST(CausalConv, SlicesAndTransposesOfAWiderTensor) {
  torch::manual_seed(2);
  const auto sequences = Sequences::FromLengths({3, 8});
  const std::vector<Tensor> in{torch::randn({11, 18}, torch::kFloat64), torch::randn({4, 6}, torch::kFloat64)};
  const auto bind = [&](Form form, auto view) -> TensorFunction {
    return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> {
      return {form(view(x[0]), x[1].t(), c10::nullopt, {}, sequences, c10::nullopt).y};
    };
  };
  const auto slice = [](const Tensor& x) { return x.slice(1, 5, 11); };
  const auto steps = [](const Tensor& x) { return x.slice(1, 0, 18, 3); };
  ExpectSameFunction(bind(CausalConv, slice), bind(CausalConvReference, slice), in, 1e-13);
  ExpectSameFunction(bind(CausalConv, steps), bind(CausalConvReference, steps), in, 1e-13);
}

TEST(CausalConv, GradientOfTheFinalStateAlone) {
  const Case c{.lengths = {2, 6}};
  const auto only_state = [&](Form form) -> TensorFunction {
    return [&c, form](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {Bind(c, form)(in)[1]}; };
  };
  ExpectSameFunction(only_state(CausalConv), only_state(CausalConvReference), RandomInputs(c, torch::kFloat64), 1e-13);
}

TEST(CausalConv, UndefinedTensorsCountAsNotGiven) {
  const Case c{.lengths = {3}, .bias = false, .states = false};
  const auto in = RandomInputs(c, torch::kFloat32);
  for (Form form : {Form{CausalConv}, Form{CausalConvAten}, Form{CausalConvReference}}) {
    EXPECT_TRUE(torch::equal(form(in[0], in[1], Tensor(), {}, Sequences::Single(3), Tensor()).y,
                             form(in[0], in[1], c10::nullopt, {}, Sequences::Single(3), c10::nullopt).y));
  }
}

TEST(CausalConv, OtherTypesTakeTheAtenForm) {
  const Case c{.lengths = {5, 3}};
  ExpectTakesBfloat16(Bind(c, CausalConv), RandomInputs(c, torch::kFloat32));
}

TEST(CausalConv, SameBitsForAnyThreadCount) {
  const Case c{.lengths = {40, 3, 300, 11, 256}, .D = 130};
  ExpectSameBitsForAnyThreadCount(Bind(c, CausalConv), RandomInputs(c, torch::kFloat32));
}

TEST(CausalConv, RefusesWrongArguments) {
  const Tensor x = torch::zeros({7, 3}), weight = torch::zeros({3, 4}), bias = torch::zeros(3);
  const auto sequences = Sequences::FromLengths({3, 4});
  for (Form form : {Form{CausalConv}, Form{CausalConvAten}, Form{CausalConvReference}}) {
    const auto message = [&](const Tensor& x, const Tensor& weight, const c10::optional<Tensor>& bias,
                             const c10::optional<Tensor>& initial) {
      return MessageOf([&] { form(x, weight, bias, {}, sequences, initial); });
    };
    EXPECT_EQ(message(torch::zeros({6, 3}), weight, bias, c10::nullopt),
              "[causal_conv] expected x of shape [T, D] with T = 7, got [6, 3]");
    EXPECT_EQ(message(torch::zeros({7}), weight, bias, c10::nullopt),
              "[causal_conv] expected x of shape [T, D] with T = 7, got [7]");
    EXPECT_EQ(message(x.to(torch::kInt64), weight, bias, c10::nullopt),
              "[causal_conv] expected x of a floating type, got Long");
    EXPECT_EQ(message(x, torch::zeros({64, 4}), bias, c10::nullopt),
              "[causal_conv] expected weight of shape [D, W] with D = 3, got [64, 4]");
    EXPECT_EQ(message(x, torch::zeros({3, 1, 4}), bias, c10::nullopt),
              "[causal_conv] expected weight of shape [D, W] with D = 3, got [3, 1, 4]");
    EXPECT_EQ(message(x, torch::zeros({3, 0}), bias, c10::nullopt),
              "[causal_conv] expected weight of width W >= 1, got 0");
    EXPECT_EQ(message(x, weight.to(torch::kFloat64), bias, c10::nullopt),
              "[causal_conv] expected weight of x's type Float, got Double");
    EXPECT_EQ(message(x, weight.to(torch::kMeta), bias, c10::nullopt),
              "[causal_conv] expected weight on x's device cpu, got meta");
    EXPECT_EQ(message(x, weight, torch::zeros(4), c10::nullopt),
              "[causal_conv] expected bias of shape [D] = [3], got [4]");
    EXPECT_EQ(message(x, weight, bias.to(torch::kFloat64), c10::nullopt),
              "[causal_conv] expected bias of x's type Float, got Double");
    EXPECT_EQ(message(x, weight, bias, torch::zeros({2, 4, 3})),
              "[causal_conv] expected initial_state of shape [S, W-1, D] = [2, 3, 3], got [2, 4, 3]");
  }
}

TEST(CausalConv, FusedDifferentiatesOnce) {
  const Case c{.lengths = {2, 5}, .D = 3, .W = 2};
  ExpectFusedDifferentiatesOnce(Bind(c, CausalConv), Bind(c, CausalConvAten), RandomInputs(c, torch::kFloat64),
                                "causal_conv", "CausalConvAten");
}

}  // namespace
}  // namespace lrnn::ops
