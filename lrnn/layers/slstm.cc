#include "lrnn/layers/slstm.h"

#include <algorithm>
#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/layers/named_part.h"
#include "lrnn/ops/block_diagonal.h"
#include "lrnn/ops/gated_rnn.h"

namespace lrnn {
namespace {

// The forget gates of a head run from 5 down to -7, the later the layer the longer they stay high: [K].
torch::Tensor ForgetBias(int64_t width, int64_t layer, int64_t layers) {
  const double depth = layers > 1 ? static_cast<double>(layer) / static_cast<double>(layers - 1) : 0.0;
  const torch::Tensor place = torch::linspace(0, 1, width, torch::kFloat64);
  return 5 - 12 * torch::pow(place, 0.3 + 1.3 * depth);
}

}  // namespace

SlstmImpl::SlstmImpl(const Fields& config, Rng& rng) : sizes_(config), eps_(config.Double("norm_eps")) {
  const int64_t D = config.PositiveInt("hidden_size"), H = sizes_.heads, K = sizes_.head_width;
  const double small = std::sqrt(2.0 / (5.0 * static_cast<double>(D)));
  const char* names[] = {"igate", "fgate", "zgate", "ogate"};
  for (int i = 0; i < 4; ++i) {
    gates_[i] = register_module(names[i], std::make_shared<NamedPart>())
                    ->register_parameter("weight", FillNormal(torch::empty({H, K, K}), small, rng));
  }
  auto cell = register_module("slstm_cell", std::make_shared<NamedPart>());
  recurrent_ = cell->register_parameter("_recurrent_kernel_", torch::zeros({H, K, 4 * K}));
  bias_ = cell->register_parameter("_bias_", torch::zeros({4 * D}));
  {
    torch::NoGradGuard no_grad;
    bias_.view({H, 4, K}).select(1, 1).copy_(
        ForgetBias(K, config.Int("layer_index", 0), config.PositiveInt("num_hidden_layers", 1)));
  }
  norm_weight_ =
      register_module("group_norm", std::make_shared<NamedPart>())->register_parameter("weight", torch::zeros({D}));
}

torch::Tensor SlstmImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  const int64_t T = x.size(0), H = sizes_.heads, K = sizes_.head_width;
  const torch::Tensor weight = torch::cat({gates_[0], gates_[1], gates_[2], gates_[3]}, 1);  // [H, 4 K, K]
  const torch::Tensor gates = ops::BlockDiagonal(x, weight).view({T, H, 4, K});
  const auto result =
      ops::Slstm(gates, recurrent_.view({H, K, 4, K}), bias_.view({H, 4, K}), {.return_final_state = state != nullptr},
                 sequences, state && !state->empty() ? c10::make_optional((*state)[0]) : c10::nullopt);
  if (state) *state = {result.final_state};
  return torch::layer_norm(result.y, {K}, {}, {}, eps_).reshape({T, H * K}) * (1 + norm_weight_);
}

std::vector<std::string> SlstmImpl::WithoutWeightDecay() const { return {"slstm_cell._bias_", "group_norm.weight"}; }

LayerInfo SlstmInfo() {
  return {.name = "slstm",
          .title = "sLSTM",
          .transition = "",
          .keys = {{"num_heads", 4, "heads, whose units hear each other"},
                   {"ffn_proj_factor", 1.3, "inner width of the MLP / hidden_size"},
                   {"round_proj_up_to_multiple_of", 64, "the inner width is rounded up to a multiple of this"},
                   {"norm_eps", 1e-5, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<SlstmImpl>(config, rng); }};
}

}  // namespace lrnn
