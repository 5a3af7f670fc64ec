#include "lrnn/ops/matrix_scan.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using OptionalTensor = c10::optional<Tensor>;

struct Case {
  std::vector<int64_t> lengths;
  int64_t n, m;
  int64_t matrices;  // of the table, 0: one for each token
  bool has_input, has_initial;
};

// A [, B] [, initial]
std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) {
  torch::manual_seed(1);
  const int64_t T = Sequences::FromLengths(c.lengths).tokens(), N = static_cast<int64_t>(c.lengths.size());
  std::vector<Tensor> inputs{torch::randn({c.matrices ? c.matrices : T, c.n, c.n}, dtype) /
                             std::sqrt(static_cast<double>(c.n))};
  if (c.has_input) inputs.push_back(torch::randn({T, c.n, c.m}, dtype));
  if (c.has_initial) inputs.push_back(torch::randn({N, c.n, c.m}, dtype));
  return inputs;
}

// The states of all tokens and the last ones.
template <typename Function>
TensorFunction Bind(const Case& c, const Function& function) {
  return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto sequences = Sequences::FromLengths(c.lengths);
    const OptionalTensor B = c.has_input ? OptionalTensor(x[1]) : c10::nullopt;
    const OptionalTensor initial = c.has_initial ? OptionalTensor(x.back()) : c10::nullopt;
    torch::manual_seed(2);
    const OptionalTensor which =
        c.matrices ? OptionalTensor(torch::randint(c.matrices, {sequences.tokens()}, torch::kInt64)) : c10::nullopt;
    const Tensor S = function(x[0], B, sequences, initial, which);
    return {S, LastStates(S, sequences, initial)};
  };
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {{{1}, 1, 1, 0, true, false},
                                          {{5, 0, 1, 20}, 5, 3, 0, true, true},
                                          {{7, 9}, 8, 1, 0, true, false},
                                          {{7, 0, 9}, 6, 6, 3, false, true},
                                          {{4, 5}, 9, 2, 4, true, true}};
  return cases;
}

TEST(MatrixScan, AllFormsAreEqual) {
  for (size_t i = 0; i < Cases().size(); ++i) {
    SCOPED_TRACE(i);
    const Case& c = Cases()[i];
    const auto reference = Bind(c, MatrixScanReference);
    ExpectSameFunction(Bind(c, MatrixScan), reference, RandomInputs(c, torch::kFloat64), 1e-12);
    ExpectSameFunction(Bind(c, MatrixScan), reference, RandomInputs(c, torch::kFloat32), 1e-5);
    ExpectSameFunction(Bind(c, MatrixScanAten), reference, RandomInputs(c, torch::kFloat64), 1e-12);
  }
}

TEST(MatrixScan, FiniteDifferences) {
  for (int64_t matrices : {0, 2}) {
    const Case c{{3, 0, 4}, 3, 2, matrices, true, true};
    ExpectFiniteDifferences(Bind(c, MatrixScan), RandomInputs(c, torch::kFloat64));
  }
}

TEST(MatrixScan, OtherTypesTakeTheAtenForm) {
  const Case c = Cases()[1];
  ExpectTakesBfloat16(Bind(c, MatrixScan), RandomInputs(c, torch::kFloat32));
}

TEST(MatrixScan, FusedDifferentiatesOnce) {
  const Case c{{4}, 2, 1, 0, true, true};
  ExpectFusedDifferentiatesOnce(Bind(c, MatrixScan), Bind(c, MatrixScanAten), RandomInputs(c, torch::kFloat64),
                                "matrix_scan", "MatrixScanAten");
}

TEST(MatrixScan, SameBitsForAnyThreadCount) {
  const Case c{{40, 3, 100, 11}, 8, 3, 5, true, true};
  ExpectSameBitsForAnyThreadCount(Bind(c, MatrixScan), RandomInputs(c, torch::kFloat32));
}

TEST(MatrixScan, NamesTheWrongArgument) {
  const auto run = [](const Tensor& A, const OptionalTensor& B, const OptionalTensor& initial = c10::nullopt,
                      const OptionalTensor& which = c10::nullopt) {
    return MessageOf([&] { MatrixScan(A, B, Sequences::FromLengths({1, 2}), initial, which); });
  };
  const Tensor A = torch::zeros({3, 2, 2}), B = torch::zeros({3, 2, 1});
  EXPECT_EQ(run(torch::zeros({3, 2, 3}), B), "[matrix_scan] expected A of square matrices [., n, n], got [3, 2, 3]");
  EXPECT_EQ(run(A.to(torch::kInt32), B), "[matrix_scan] expected A of a floating type, got Int");
  EXPECT_EQ(run(A, c10::nullopt), "[matrix_scan] expected B or an initial state, got neither");
  EXPECT_EQ(run(A, torch::zeros({3, 2})), "[matrix_scan] expected B of three dimensions, got [3, 2]");
  EXPECT_EQ(run(A, torch::zeros({3, 3, 1})), "[matrix_scan] expected B of shape [T, n, m] = [3, 2, 1], got [3, 3, 1]");
  EXPECT_EQ(run(A, B.to(torch::kFloat64)), "[matrix_scan] expected B of A's type Float, got Double");
  EXPECT_EQ(run(A, B, torch::zeros({3, 2, 1})),
            "[matrix_scan] expected initial of shape [N, n, m] = [2, 2, 1], got [3, 2, 1]");
  EXPECT_EQ(run(torch::zeros({4, 2, 2}), B), "[matrix_scan] expected A of 3 matrices, one for each token, got 4");
  EXPECT_EQ(run(A, B, c10::nullopt, torch::zeros({3}, torch::kInt32)),
            "[matrix_scan] expected which of 3 int64 numbers, got [3] of Int");
  EXPECT_EQ(run(A, B, c10::nullopt, torch::tensor({0, 3, 1}, torch::kInt64)),
            "[matrix_scan] expected which in 0 .. 2, got 3");
  EXPECT_EQ(run(A, B, c10::nullopt, torch::tensor({0, -2, 1}, torch::kInt64)),
            "[matrix_scan] expected which in 0 .. 2, got -2");
}

}  // namespace
}  // namespace lrnn::ops
