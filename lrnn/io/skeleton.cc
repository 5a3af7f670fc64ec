#include "lrnn/io/skeleton.h"

#include <map>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

const std::map<std::string, Skeleton, std::less<>>& Skeletons() {
  static const Skeleton fla{.root = "model",
                            .mixer_norm = "attn_norm",
                            .mixer = "attn",
                            .has_mlp = true,
                            .final_norm = "norm",
                            .norm_eps_key = "norm_eps",
                            .norm_eps = 1e-6};
  static const Skeleton mamba{.root = "backbone",
                              .mixer_norm = "norm",
                              .mixer = "mixer",
                              .has_mlp = false,
                              .final_norm = "norm_f",
                              .norm_eps_key = "layer_norm_epsilon",
                              .norm_eps = 1e-5};
  static const Skeleton mlstm{.root = "xlstm_block_stack",
                              .mixer_norm = "xlstm_norm",
                              .mixer = "xlstm",
                              .has_mlp = false,
                              .final_norm = "post_blocks_norm",
                              .norm_eps_key = "norm_eps",
                              .norm_eps = 1e-5,
                              .small_init = true};
  static const Skeleton slstm = [] {
    Skeleton skeleton = mlstm;
    skeleton.has_gated_gelu = true;
    return skeleton;
  }();
  static const Skeleton simple{.root = "model",
                               .mixer_norm = "norm",
                               .mixer = "mixer",
                               .has_mlp = false,
                               .final_norm = "norm",
                               .norm_eps_key = "norm_eps",
                               .norm_eps = 1e-5,
                               .has_residual = false,
                               .small_init = true};
  static const std::map<std::string, Skeleton, std::less<>> skeletons{{"attention", fla},
                                                                      {"delta_net", fla},
                                                                      {"diagonal", simple},
                                                                      {"full_matrix", simple},
                                                                      {"gated_deltanet", fla},
                                                                      {"gated_deltaproduct", fla},
                                                                      {"gla", fla},
                                                                      {"hybrid", fla},
                                                                      {"lstm", mamba},
                                                                      {"mamba", mamba},
                                                                      {"mamba2", mamba},
                                                                      {"mlstm", mlstm},
                                                                      {"rotation", fla},
                                                                      {"slstm", slstm},
                                                                      {"token_matrix", simple}};
  return skeletons;
}

}  // namespace

const Skeleton& SkeletonOf(std::string_view model_type) {
  const auto found = Skeletons().find(model_type);
  if (found != Skeletons().end()) return found->second;
  std::string known;
  for (const auto& [name, skeleton] : Skeletons()) known += (known.empty() ? "" : ", ") + name;
  Fail("unknown model_type \"{}\" (known: {})", model_type, known);
}

int64_t DefaultIntermediateSize(int64_t hidden_size, int64_t hidden_ratio) {
  return (hidden_size * hidden_ratio * 2 / 3 + 255) / 256 * 256;
}

}  // namespace lrnn
