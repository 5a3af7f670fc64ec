#include "lrnn/ops/diagonal_scan.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

struct Case {
  std::vector<int64_t> lengths;
  int64_t D;
  bool has_initial;
};

// a, b [, initial]
std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) {
  torch::manual_seed(1);
  const int64_t T = Sequences::FromLengths(c.lengths).tokens();
  Tensor a = 2 * torch::rand({T, c.D}, dtype) - 1;
  for (int64_t t = 0; t < T; t += 4) a[t].fill_((t / 4) % 3 - 1);  // exactly -1, 0, 1
  std::vector<Tensor> inputs{a, torch::randn({T, c.D}, dtype)};
  if (c.has_initial) inputs.push_back(torch::randn({static_cast<int64_t>(c.lengths.size()), c.D}, dtype));
  return inputs;
}

// The states of all tokens and the last ones.
template <typename Function>
TensorFunction Bind(const Case& c, const Function& function) {
  return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto sequences = Sequences::FromLengths(c.lengths);
    const auto initial = c.has_initial ? c10::optional<Tensor>(x[2]) : c10::nullopt;
    const Tensor h = function(x[0], x[1], sequences, initial);
    return {h, LastStates(h, sequences, initial)};
  };
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {{{1}, 1, false}, {{5, 0, 1, 40}, 7, true}, {{7, 18}, 33, false}};
  return cases;
}

TEST(DiagonalScan, AllFormsAreEqual) {
  for (const Case& c : Cases()) {
    const auto reference = Bind(c, DiagonalScanReference);
    ExpectSameFunction(Bind(c, DiagonalScan), reference, RandomInputs(c, torch::kFloat64), 1e-13);
    ExpectSameFunction(Bind(c, DiagonalScan), reference, RandomInputs(c, torch::kFloat32), 1e-5);
    ExpectSameFunction(Bind(c, DiagonalScanAten), reference, RandomInputs(c, torch::kFloat64), 1e-13);
  }
}

TEST(DiagonalScan, FiniteDifferences) {
  const Case c{{3, 0, 4}, 2, true};
  ExpectFiniteDifferences(Bind(c, DiagonalScan), RandomInputs(c, torch::kFloat64));
}

TEST(DiagonalScan, OtherTypesTakeTheAtenForm) {
  const Case c = Cases()[1];
  ExpectTakesBfloat16(Bind(c, DiagonalScan), RandomInputs(c, torch::kFloat32));
}

TEST(DiagonalScan, FusedDifferentiatesOnce) {
  const Case c{{4}, 2, true};
  ExpectFusedDifferentiatesOnce(Bind(c, DiagonalScan), Bind(c, DiagonalScanAten), RandomInputs(c, torch::kFloat64),
                                "diagonal_scan", "DiagonalScanAten");
}

TEST(DiagonalScan, SameBitsForAnyThreadCount) {
  const Case c{{40, 3, 300, 11}, 130, true};
  ExpectSameBitsForAnyThreadCount(Bind(c, DiagonalScan), RandomInputs(c, torch::kFloat32));
}

TEST(DiagonalScan, NamesTheWrongArgument) {
  const auto run = [](const Tensor& a, const Tensor& b, const c10::optional<Tensor>& initial = c10::nullopt) {
    return MessageOf([&] { DiagonalScan(a, b, Sequences::FromLengths({3, 4}), initial); });
  };
  EXPECT_EQ(run(torch::zeros({6, 2}), torch::zeros({6, 2})),
            "[diagonal_scan] expected a of shape [T, D] with T = 7, got [6, 2]");
  EXPECT_EQ(run(torch::zeros({7, 2}, torch::kInt32), torch::zeros({7, 2})),
            "[diagonal_scan] expected a of a floating type, got Int");
  EXPECT_EQ(run(torch::zeros({7, 2}), torch::zeros({7, 3})),
            "[diagonal_scan] expected b of shape [T, D] = [7, 2], got [7, 3]");
  EXPECT_EQ(run(torch::zeros({7, 2}), torch::zeros({7, 2}, torch::kFloat64)),
            "[diagonal_scan] expected b of a's type Float, got Double");
  EXPECT_EQ(run(torch::zeros({7, 2}), torch::zeros({7, 2}), torch::zeros({3, 2})),
            "[diagonal_scan] expected initial of shape [N, D] = [2, 2], got [3, 2]");
}

}  // namespace
}  // namespace lrnn::ops
