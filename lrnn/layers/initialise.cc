#include "lrnn/layers/initialise.h"

#include <algorithm>
#include <cmath>

namespace lrnn {
namespace {

template <typename Draw>
torch::Tensor Fill(torch::Tensor tensor, const Draw& draw) {
  torch::NoGradGuard no_grad;
  torch::Tensor values = torch::empty(tensor.sizes(), torch::kFloat64);
  double* const data = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) data[i] = draw();
  tensor.copy_(values);
  return tensor;
}

}  // namespace

torch::Tensor FillUniform(torch::Tensor tensor, double bound, Rng& rng) {
  return Fill(tensor, [&] { return rng.Uniform(-bound, bound); });
}

torch::Tensor FillNormal(torch::Tensor tensor, double deviation, Rng& rng) {
  return Fill(tensor, [&] { return deviation * rng.Normal(); });
}

torch::Tensor FillXavierUniform(torch::Tensor weight, double gain, Rng& rng) {
  const double fans = static_cast<double>(weight.size(0) + weight.size(1));
  return FillUniform(weight, gain * std::sqrt(6.0 / fans), rng);
}

torch::Tensor FillTimeStepBias(torch::Tensor bias, Rng& rng) {
  return Fill(bias, [&] {
    const double dt = std::max(1e-4, std::exp(rng.Uniform(std::log(0.001), std::log(0.1))));
    return dt + std::log(-std::expm1(-dt));
  });
}

}  // namespace lrnn
