// A module that only gives a name to what is registered in it: one word of a parameter's path.
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn {

class NamedPart : public torch::nn::Module {
 public:
  using torch::nn::Module::register_module;
  using torch::nn::Module::register_parameter;
};

}  // namespace lrnn
