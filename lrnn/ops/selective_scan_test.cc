#include "lrnn/ops/selective_scan.h"

#include <gtest/gtest.h>

#include "lrnn/base/error.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

struct Case {
  std::vector<int64_t> lengths;
  int64_t D, N;
  bool extended;
  bool all = true;  // D, z, delta_bias, initial state
  bool softplus = true;
};

// The order of a case's inputs.
enum { kU, kDelta, kA, kB, kC, kD, kZ, kBias, kState };

std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) {
  torch::manual_seed(1);
  const int64_t T = Sequences::FromLengths(c.lengths).tokens(), S = static_cast<int64_t>(c.lengths.size());
  const auto normal = [&](at::IntArrayRef shape) { return torch::randn(shape, torch::kFloat64).to(dtype); };
  const auto uniform = [&](at::IntArrayRef shape) { return torch::rand(shape, torch::kFloat64).to(dtype); };
  std::vector<Tensor> inputs{normal({T, c.D}), c.softplus ? normal({T, c.D}) : uniform({T, c.D}),
                             -2 * uniform({c.D, c.N}) - 0.02, normal({T, c.N}), normal({T, c.N})};
  if (c.all) {
    for (Tensor x : {normal({c.D}), normal({T, c.D}), uniform({c.D}), normal({S, c.D, c.N})}) inputs.push_back(x);
  }
  return inputs;
}

template <typename Form>
TensorFunction Bind(const Case& c, const Form& form) {
  return [c, form](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto optional = [&](int i) { return c.all ? c10::optional<Tensor>(x[i]) : c10::nullopt; };
    const auto result =
        form(x[kU], x[kDelta], x[kA], x[kB], x[kC], optional(kD), optional(kZ), optional(kBias),
             SelectiveScanOptions{c.softplus, c.extended, true}, Sequences::FromLengths(c.lengths), optional(kState));
    return {result.y, result.final_state};
  };
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (bool extended : {false, true}) {
    for (const Case& c : {Case{{1}, 1, 1, extended}, Case{{5, 0, 1, 40}, 6, 16, extended},
                          Case{{0, 17, 33}, 19, 3, extended}, Case{{20, 3}, 8, 16, extended, false},
                          Case{{18}, 5, 4, extended, true, false}, Case{{0, 0}, 3, 2, extended}}) {
      cases.push_back(c);
    }
  }
  return cases;
}

TEST(SelectiveScan, FusedEqualsReference) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(testing::PrintToString(c.lengths) + (c.extended ? " extended" : ""));
    ExpectSameFunction(Bind(c, SelectiveScan), Bind(c, SelectiveScanReference), RandomInputs(c, torch::kFloat64),
                       1e-13);
    ExpectSameFunction(Bind(c, SelectiveScan), Bind(c, SelectiveScanReference), RandomInputs(c, torch::kFloat32), 1e-5);
  }
}

TEST(SelectiveScan, AtenEqualsReference) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(testing::PrintToString(c.lengths) + (c.extended ? " extended" : ""));
    ExpectSameFunction(Bind(c, SelectiveScanAten), Bind(c, SelectiveScanReference), RandomInputs(c, torch::kFloat64),
                       1e-13);
  }
}

TEST(SelectiveScan, OtherTypesTakeTheAtenForm) {
  const Case c{{7, 12}, 4, 16, true};
  ExpectTakesBfloat16(Bind(c, SelectiveScan), RandomInputs(c, torch::kFloat32));
}

TEST(SelectiveScan, FiniteDifferences) {
  for (bool extended : {false, true}) {
    for (const Case& c : {Case{{2, 3}, 2, 3, extended}, Case{{1, 0, 18}, 1, 2, extended},
                          Case{{4}, 3, 1, extended, false}, Case{{3}, 2, 2, extended, true, false}}) {
      ExpectFiniteDifferences(Bind(c, SelectiveScan), RandomInputs(c, torch::kFloat64));
    }
  }
}

TEST(SelectiveScan, StateCarriedAcrossASplitIsOnePass) {
  for (int64_t at : {1, 8, 16, 39}) {
    const Case c{{40}, 5, 16, true};
    const auto split = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
      const auto part = [&](int64_t begin, int64_t end, const Tensor& state) {
        const auto rows = [&](int i) { return x[i].slice(0, begin, end); };
        return SelectiveScan(rows(kU), rows(kDelta), x[kA], rows(kB), rows(kC), x[kD], rows(kZ), x[kBias],
                             {true, true, true}, Sequences::Single(end - begin), state);
      };
      const auto first = part(0, at, x[kState]);
      const auto second = part(at, 40, first.final_state);
      return {torch::cat({first.y, second.y}), second.final_state};
    };
    ExpectSameFunction(split, Bind(c, SelectiveScan), RandomInputs(c, torch::kFloat64), 1e-13);
  }
}

TEST(SelectiveScan, PackedIsOneByOne) {
  const Case c{{4, 1, 0, 37}, 9, 16, true};
  const auto one_by_one = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto sequences = Sequences::FromLengths(c.lengths);
    std::vector<Tensor> y, states;
    for (int64_t s = 0; s < sequences.count(); ++s) {
      const auto rows = [&](int i) { return x[i].slice(0, sequences.begin(s), sequences.end(s)); };
      const auto result =
          SelectiveScan(rows(kU), rows(kDelta), x[kA], rows(kB), rows(kC), x[kD], rows(kZ), x[kBias],
                        {true, true, true}, Sequences::Single(sequences.length(s)), x[kState].slice(0, s, s + 1));
      y.push_back(result.y);
      states.push_back(result.final_state);
    }
    return {torch::cat(y), torch::cat(states)};
  };
  ExpectSameFunction(one_by_one, Bind(c, SelectiveScan), RandomInputs(c, torch::kFloat64), 1e-14);
}

// As in the layer: u and z are halves of one projection; delta, B and C slices of another; and a transposed delta.
TEST(SelectiveScan, ReadsSlices) {
  const Case c{{7, 20}, 11, 16, false};
  const auto sliced = [&](const std::vector<Tensor>& x) {
    auto y = x;
    const Tensor uz = torch::cat({x[kU], x[kZ]}, 1), dBC = torch::cat({x[kDelta], x[kB], x[kC]}, 1);
    y[kU] = uz.slice(1, 0, 11);
    y[kZ] = uz.slice(1, 11);
    y[kDelta] = dBC.slice(1, 0, 11).t().contiguous().t();
    y[kB] = dBC.slice(1, 11, 27);
    y[kC] = dBC.slice(1, 27);
    y[kA] = x[kA].t().contiguous().t();
    return Bind(c, SelectiveScan)(y);
  };
  ExpectSameFunction(sliced, Bind(c, SelectiveScan), RandomInputs(c, torch::kFloat64), 1e-14);
}

TEST(SelectiveScan, SameBitsForAnyThreadCount) {
  const Case c{{40, 3, 300, 11, 256}, 150, 16, true};
  ExpectSameBitsForAnyThreadCount(Bind(c, SelectiveScan), RandomInputs(c, torch::kFloat32));
}

// Eigenvalues next to 1 and -1, where errors live longest: float against double, without growth along the sequence.
TEST(SelectiveScan, TenThousandTokens) {
  for (bool extended : {false, true}) {
    const int64_t T = 10000;
    const Case c{{T}, 8, 16, extended, false};
    auto inputs = RandomInputs(c, torch::kFloat32);
    inputs[kA] = -torch::exp(torch::linspace(-6, 2, 8 * 16).view({8, 16}));
    inputs[kDelta] = inputs[kDelta] - 2;
    auto exact_inputs = inputs;
    for (Tensor& x : exact_inputs) x = x.to(torch::kFloat64);
    const Tensor y = Bind(c, SelectiveScan)(inputs)[0];
    const Tensor exact = SelectiveScanReference(exact_inputs[kU], exact_inputs[kDelta], exact_inputs[kA],
                                                exact_inputs[kB], exact_inputs[kC], c10::nullopt, c10::nullopt,
                                                c10::nullopt, {true, extended, false}, Sequences::Single(T))
                             .y;
    const double early = RelativeError(y.slice(0, 0, 1000), exact.slice(0, 0, 1000));
    const double late = RelativeError(y.slice(0, 9000), exact.slice(0, 9000));
    EXPECT_LT(early, 3e-6);
    EXPECT_LT(late, 3e-6);
  }
}

// A = 0 keeps the state (eigenvalue 1); a huge step erases it (0) or flips its sign (-1).
TEST(SelectiveScan, EigenvaluesAtTheirLimits) {
  const auto state_after = [](double step, double A, bool extended) {
    const Tensor u = torch::zeros({3, 2}), delta = torch::full({3, 2}, step), BC = torch::ones({3, 1});
    return SelectiveScan(u, delta, torch::full({2, 1}, A), BC, BC, c10::nullopt, c10::nullopt, c10::nullopt,
                         {true, extended, true}, Sequences::Single(3), torch::full({1, 2, 1}, 5.0f))
        .final_state[0][1][0]
        .item<float>();
  };
  for (bool extended : {false, true}) EXPECT_EQ(state_after(1, 0, extended), 5);
  EXPECT_EQ(state_after(1e6, -1, false), 0);
  EXPECT_EQ(state_after(1e6, -1, true), -5);
}

TEST(SelectiveScan, FinalStateOnlyIfAskedFor) {
  const Case c{{3}, 2, 2, false, false};
  const auto x = RandomInputs(c, torch::kFloat32);
  for (const auto& form : {SelectiveScan, SelectiveScanAten, SelectiveScanReference}) {
    const auto result = form(x[kU], x[kDelta], x[kA], x[kB], x[kC], c10::nullopt, c10::nullopt, c10::nullopt, {},
                             Sequences::Single(3), c10::nullopt);
    EXPECT_TRUE(result.y.defined());
    EXPECT_FALSE(result.final_state.defined());
  }
}

TEST(SelectiveScan, GradientOfTheFinalStateAlone) {
  const Case c{{5, 18}, 3, 4, true};
  const auto only_state = [&](const auto& form) -> TensorFunction {
    return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> { return {Bind(c, form)(x)[1]}; };
  };
  ExpectSameFunction(only_state(SelectiveScan), only_state(SelectiveScanReference), RandomInputs(c, torch::kFloat64),
                     1e-13);
}

TEST(SelectiveScan, FusedDifferentiatesOnce) {
  const Case c{{3}, 2, 2, false};
  ExpectFusedDifferentiatesOnce(Bind(c, SelectiveScan), Bind(c, SelectiveScanAten), RandomInputs(c, torch::kFloat64),
                                "selective_scan", "SelectiveScanAten");
}

TEST(SelectiveScan, NamesTheWrongArgument) {
  const Case c{{3, 4}, 5, 16, false};
  const auto inputs = RandomInputs(c, torch::kFloat32);
  const auto message = [&](size_t i, const Tensor& wrong) -> std::string {
    auto changed = inputs;
    changed[i] = wrong;
    try {
      Bind(c, SelectiveScan)(changed);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(kU, torch::zeros({6, 5})), "[selective_scan] expected u of shape [T, D] with T = 7, got [6, 5]");
  EXPECT_EQ(message(kU, torch::zeros({7})), "[selective_scan] expected u of shape [T, D] with T = 7, got [7]");
  EXPECT_EQ(message(kU, torch::zeros({7, 5}, torch::kInt64)),
            "[selective_scan] expected u of a floating type, got Long");
  EXPECT_EQ(message(kDelta, torch::zeros({7, 4})),
            "[selective_scan] expected delta of shape [T, D] = [7, 5], got [7, 4]");
  EXPECT_EQ(message(kA, torch::zeros({4, 16})), "[selective_scan] expected A of shape [D, N] with D = 5, got [4, 16]");
  EXPECT_EQ(message(kB, torch::zeros({7, 8})), "[selective_scan] expected B of shape [T, N] = [7, 16], got [7, 8]");
  EXPECT_EQ(message(kC, torch::zeros({6, 16})), "[selective_scan] expected C of shape [T, N] = [7, 16], got [6, 16]");
  EXPECT_EQ(message(kD, torch::zeros({6})), "[selective_scan] expected D of shape [D] = [5], got [6]");
  EXPECT_EQ(message(kZ, torch::zeros({7, 10})), "[selective_scan] expected z of shape [T, D] = [7, 5], got [7, 10]");
  EXPECT_EQ(message(kBias, torch::zeros({5, 1})),
            "[selective_scan] expected delta_bias of shape [D] = [5], got [5, 1]");
  EXPECT_EQ(message(kState, torch::zeros({5, 16})),
            "[selective_scan] expected initial_state of shape [S, D, N] = [2, 5, 16], got [5, 16]");
  EXPECT_EQ(message(kA, torch::zeros({5, 16}, torch::kFloat64)),
            "[selective_scan] expected A of u's type Float, got Double");
  EXPECT_EQ(message(kB, torch::zeros({7, 16}, torch::kMeta)),
            "[selective_scan] expected B on u's device cpu, got meta");
}

}  // namespace
}  // namespace lrnn::ops
