// AdamW over the parameters of a model (lrnn/kernels/adamw.h gives the equations).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lrnn/kernels/adamw.h"
#include "lrnn/ops/torch.h"

namespace lrnn {

class AdamW {
 public:
  // `without_decay`: names of parameters that weight decay leaves alone.
  AdamW(const torch::nn::Module& model, const std::vector<std::string>& without_decay,
        const kernels::AdamWOptions& options);

  // The Euclidean norm of all gradients together.
  double GradientNorm() const;

  // One update with this learning rate from the gradients times `gradient_scale`; they are then cleared. `step` counts
  // from 1. Parameters without a gradient are left alone.
  void Step(int64_t step, double learning_rate, int threads, double gradient_scale = 1);

  // The running means, by name ("m.<parameter>", "v.<parameter>"), to be saved and restored.
  std::vector<std::pair<std::string, torch::Tensor>> State() const;

 private:
  struct Slot {
    std::string name;
    torch::Tensor parameter, m, v;
    double weight_decay;
  };
  kernels::AdamWOptions options_;
  std::vector<Slot> slots_;
};

}  // namespace lrnn
