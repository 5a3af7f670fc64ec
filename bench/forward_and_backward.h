// An operation with or without its gradients, as work to measure.
#pragma once

#include <utility>
#include <vector>

#include "bench/machine.h"
#include "lrnn/ops/torch.h"

namespace lrnn::bench {

// `forward` gives an output from the inputs, whose gradients are taken too if asked for.
template <typename Forward>
Work ForwardAndBackward(std::vector<torch::Tensor> inputs, bool backward, Forward forward) {
  for (torch::Tensor& input : inputs) input.requires_grad_(backward);
  return [inputs = std::move(inputs), backward, forward = std::move(forward), gradient = torch::Tensor()]() mutable {
    const torch::Tensor y = forward();
    if (!backward) return;
    if (!gradient.defined()) gradient = torch::randn_like(y);
    torch::autograd::grad({y}, inputs, {gradient});
  };
}

}  // namespace lrnn::bench
