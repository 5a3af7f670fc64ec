// The field's checkpoints in one form: other and older ways of writing the same model, turned into the one that
// lrnn/io/skeleton.h and the layers describe.
//
//   state-spaces/mamba         d_model, n_layer, ssm_cfg instead of a model_type; backbone.embedding; a padded
//   vocabulary mamba in fla               norm_eps, dt_rank instead of layer_norm_epsilon, time_step_rank fla before
//   February 2025   mlp.gate_proj [2 I, D] holds gate and up; attn.norm, mlp.norm instead of attn_norm, mlp_norm fla
//   before June 2025       gated_deltaproduct with a tensor for each step, k_projs.0, k_projs.1, ...; use_gate gla
//   without fused norm     attn.g_norm instead of attn.g_norm_swish_gate
//
// Settings that would change the model in a way no layer here can follow are Errors.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/io/safetensors.h"

namespace lrnn {

// Changes config and tensors in place; what is in that form already stays as it is. Tensors that had to be joined live
// in `storage`. `source` is the place of the config named in Errors.
void ToOneForm(nlohmann::json& config, TensorMap& tensors, std::vector<std::vector<std::byte>>& storage,
               const std::string& source);

}  // namespace lrnn
