#include "lrnn/io/skeleton.h"

#include <map>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

const std::map<std::string, Skeleton, std::less<>>& Skeletons() {
  static const Skeleton fla{"model", "attn_norm", "attn", true, "norm", "norm_eps", 1e-6};
  static const Skeleton mamba{"backbone", "norm", "mixer", false, "norm_f", "layer_norm_epsilon", 1e-5};
  static const Skeleton xlstm{"xlstm_block_stack", "xlstm_norm", "xlstm", false, "post_blocks_norm", "norm_eps", 1e-5};
  static const Skeleton slstm{"xlstm_block_stack",    "xlstm_norm", "xlstm", false,
                              "post_blocks_norm",     "norm_eps",   1e-5,    /*has_residual=*/true,
                              /*small_init=*/true,
                              /*has_gated_gelu=*/true};
  static const Skeleton simple{
      "model", "norm", "mixer", false, "norm", "norm_eps", 1e-5, /*has_residual=*/false, /*small_init=*/true};
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
                                                                      {"mlstm", xlstm},
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
