#include "lrnn/ops/block_diagonal.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = Tensor (*)(const Tensor&, const Tensor&);

TensorFunction Bind(Form form) {
  return [form](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {form(in[0], in[1])}; };
}

std::vector<Tensor> RandomInputs(int64_t T, int64_t blocks, int64_t out, int64_t in, torch::Dtype type) {
  torch::manual_seed(1);
  return {torch::randn({T, blocks * in}, type), torch::randn({blocks, out, in}, type)};
}

// Small square blocks, which have a kernel, and others.
const std::vector<std::vector<int64_t>> kShapes = {{5, 3, 4, 4},   {9, 2, 3, 3}, {0, 2, 4, 4}, {6, 4, 128, 32},
                                                   {4, 2, 16, 16}, {3, 2, 5, 2}, {0, 2, 5, 2}};

TEST(BlockDiagonal, EqualsReference) {
  for (const auto& shape : kShapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    for (const auto& [type, tolerance] : {std::pair{torch::kFloat64, 1e-13}, {torch::kFloat32, 1e-5}}) {
      ExpectSameFunction(Bind(BlockDiagonal), Bind(BlockDiagonalReference),
                         RandomInputs(shape[0], shape[1], shape[2], shape[3], type), tolerance);
    }
  }
}

TEST(BlockDiagonal, FiniteDifferences) {
  ExpectFiniteDifferences(Bind(BlockDiagonal), RandomInputs(3, 2, 4, 4, torch::kFloat64));
  ExpectFiniteDifferences(Bind(BlockDiagonal), RandomInputs(3, 2, 2, 3, torch::kFloat64));
}

TEST(BlockDiagonal, InputWithoutAGradient) {
  const auto in = RandomInputs(4, 2, 4, 4, torch::kFloat32);
  const Tensor W = in[1].clone().requires_grad_();
  BlockDiagonal(in[0], W).sum().backward();
  EXPECT_LE(RelativeError(W.grad()[0][0], in[0].sum(0).slice(0, 0, 4)), 1e-6);
}

TEST(BlockDiagonal, OtherTypesTakeTheReference) {
  ExpectTakesBfloat16(Bind(BlockDiagonal), RandomInputs(4, 2, 4, 4, torch::kFloat32));
}

TEST(BlockDiagonal, SameBitsForAnyThreadCount) {
  ExpectSameBitsForAnyThreadCount(Bind(BlockDiagonal), RandomInputs(1500, 8, 4, 4, torch::kFloat32));
}

TEST(BlockDiagonal, RefusesWrongArguments) {
  for (Form form : {Form{BlockDiagonal}, Form{BlockDiagonalReference}}) {
    EXPECT_EQ(MessageOf([&] {
                form(torch::zeros({3, 8}), torch::zeros({2, 4, 3}));
              }),
              "[block_diagonal] expected x of shape [T, blocks in] and W [blocks, out, in], got [3, 8] and [2, 4, 3]");
  }
}

TEST(BlockDiagonal, FusedDifferentiatesOnce) {
  ExpectFusedDifferentiatesOnce(Bind(BlockDiagonal), Bind(BlockDiagonalReference),
                                RandomInputs(2, 2, 4, 4, torch::kFloat64), "block_diagonal", "BlockDiagonalReference");
}

}  // namespace
}  // namespace lrnn::ops
