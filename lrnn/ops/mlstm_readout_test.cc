#include "lrnn/ops/mlstm_readout.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                        double);

// Of o, x, z, weight and skip; m, through which no gradient flows, is fixed.
TensorFunction Bind(Form form, const Tensor& m) {
  return [=](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {form(in[0], m.to(in[0].scalar_type()), in[1], in[2], in[3], in[4], 1e-5)};
  };
}

std::vector<Tensor> RandomInputs(int64_t T, int64_t H, int64_t K, torch::Dtype type) {
  torch::manual_seed(1);
  return {torch::randn({T, H, K + 1}, type), torch::randn({T, H * K}, type), torch::randn({T, H * K}, type),
          torch::randn({H * K}, type), torch::randn({H * K}, type)};
}

TEST(MlstmReadout, EqualsReference) {
  for (const auto& [T, H, K] : {std::array<int64_t, 3>{5, 2, 8}, {7, 4, 64}, {1, 1, 1}, {300, 3, 19}, {0, 2, 4}}) {
    SCOPED_TRACE(K);
    const Tensor m = torch::randn({T, H});
    ExpectSameFunction(Bind(MlstmReadout, m), Bind(MlstmReadoutReference, m), RandomInputs(T, H, K, torch::kFloat64),
                       1e-12);
    ExpectSameFunction(Bind(MlstmReadout, m), Bind(MlstmReadoutReference, m), RandomInputs(T, H, K, torch::kFloat32),
                       1e-4);
  }
}

TEST(MlstmReadout, SlicesOfWiderTensors) {
  torch::manual_seed(2);
  const Tensor m = torch::randn({6, 2}), weight = torch::randn(6, torch::kFloat64);
  const auto bind = [&](Form form) -> TensorFunction {
    return [=](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      return {form(in[0].slice(2, 1, 5), m.to(torch::kFloat64), in[1].slice(1, 0, 6), in[1].slice(1, 6), weight, weight,
                   1e-5)};
    };
  };
  ExpectSameFunction(bind(MlstmReadout), bind(MlstmReadoutReference),
                     {torch::randn({6, 2, 7}, torch::kFloat64), torch::randn({6, 12}, torch::kFloat64)}, 1e-12);
}

TEST(MlstmReadout, FiniteDifferences) {
  ExpectFiniteDifferences(Bind(MlstmReadout, torch::randn({3, 2})), RandomInputs(3, 2, 5, torch::kFloat64), 1e-6);
}

TEST(MlstmReadout, OtherTypesTakeTheReference) {
  ExpectTakesBfloat16(Bind(MlstmReadout, torch::zeros({4, 2})), RandomInputs(4, 2, 8, torch::kFloat32), 0.1);
}

TEST(MlstmReadout, SameBitsForAnyThreadCount) {
  ExpectSameBitsForAnyThreadCount(Bind(MlstmReadout, torch::randn({700, 4})),
                                  RandomInputs(700, 4, 16, torch::kFloat32));
}

TEST(MlstmReadout, RefusesWrongArguments) {
  const Tensor o = torch::zeros({3, 2, 5}), m = torch::zeros({3, 2}), x = torch::zeros({3, 8}), w = torch::zeros(8);
  for (const Form form : {Form{MlstmReadout}, Form{MlstmReadoutReference}}) {
    EXPECT_EQ(MessageOf([&] {
                form(torch::zeros({3, 2}), m, x, x, w, w, 1e-5);
              }),
              "[mlstm_readout] expected o of shape [T, H, K + 1], got [3, 2]");
    EXPECT_EQ(MessageOf([&] {
                form(o, torch::zeros({3, 1}), x, x, w, w, 1e-5);
              }),
              "[mlstm_readout] expected m of shape [T, H] = [3, 2], got [3, 1]");
    EXPECT_EQ(MessageOf([&] {
                form(o, m, x, torch::zeros({3, 7}), w, w, 1e-5);
              }),
              "[mlstm_readout] expected z of shape [T, H K] = [3, 8], got [3, 7]");
    EXPECT_EQ(MessageOf([&] { form(o, m, x, x, w, w.to(torch::kFloat64), 1e-5); }),
              "[mlstm_readout] expected skip of o's type Float, got Double");
  }
}

TEST(MlstmReadout, FusedDifferentiatesOnce) {
  const Tensor m = torch::zeros({2, 1});
  ExpectFusedDifferentiatesOnce(Bind(MlstmReadout, m), Bind(MlstmReadoutReference, m),
                                RandomInputs(2, 1, 3, torch::kFloat64), "mlstm_readout", "MlstmReadoutReference");
}

}  // namespace
}  // namespace lrnn::ops
