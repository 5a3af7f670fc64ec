#include "lrnn/train/adamw.h"

#include <algorithm>
#include <cmath>

#include "lrnn/base/error.h"

namespace lrnn {

AdamW::AdamW(const torch::nn::Module& model, const std::vector<std::string>& without_decay,
             const kernels::AdamWOptions& options)
    : options_(options) {
  size_t spared = 0;
  for (const auto& item : model.named_parameters()) {
    const torch::Tensor& parameter = item.value();
    LRNN_CHECK(parameter.is_cpu() && parameter.scalar_type() == torch::kFloat32 && parameter.is_contiguous(),
               "[AdamW] expected contiguous float parameters on the CPU, got {} of {}", item.key(),
               c10::toString(parameter.scalar_type()));
    const bool spare = std::find(without_decay.begin(), without_decay.end(), item.key()) != without_decay.end();
    spared += spare;
    slots_.push_back({item.key(), parameter, torch::zeros_like(parameter), torch::zeros_like(parameter),
                      spare ? 0.0 : options.weight_decay});
  }
  LRNN_CHECK(spared == without_decay.size(), "[AdamW] expected {} parameters without decay in the model, got {}",
             without_decay.size(), spared);
}

double AdamW::GradientNorm() const {
  double squares = 0;
  for (const Slot& slot : slots_) {
    const torch::Tensor& gradient = slot.parameter.grad();
    if (gradient.defined()) squares += std::pow(gradient.norm().item<double>(), 2);
  }
  return std::sqrt(squares);
}

void AdamW::Step(int64_t step, double learning_rate, int threads, double gradient_scale) {
  kernels::AdamWOptions options = options_;
  options.lr = learning_rate;
  options.gradient_scale = gradient_scale;
  for (Slot& slot : slots_) {
    torch::Tensor& gradient = slot.parameter.mutable_grad();
    if (!gradient.defined()) continue;
    options.weight_decay = slot.weight_decay;
    const torch::Tensor g = gradient.contiguous();
    kernels::AdamW(options, step, g.data_ptr<float>(), slot.parameter.data_ptr<float>(), slot.m.data_ptr<float>(),
                   slot.v.data_ptr<float>(), g.numel(), threads);
    gradient.reset();
  }
}

std::vector<std::pair<std::string, torch::Tensor>> AdamW::State() const {
  std::vector<std::pair<std::string, torch::Tensor>> state;
  for (const Slot& slot : slots_) {
    state.emplace_back("m." + slot.name, slot.m);
    state.emplace_back("v." + slot.name, slot.v);
  }
  return state;
}

}  // namespace lrnn
