#include "lrnn/layers/rotation.h"

#include <cmath>

#include "lrnn/io/head_width.h"
#include "lrnn/layers/initialise.h"
#include "lrnn/ops/linear_attention.h"
#include "lrnn/ops/rotate_pairs.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn {
namespace {

// The sums of x: [T, ...] from the start of each sequence, in double: angles of long streams add up to thousands of
// turns.
torch::Tensor SumsSoFar(const torch::Tensor& x, const ops::Sequences& sequences) {
  std::vector<int64_t> starts;
  starts.reserve(sequences.tokens());
  for (int64_t i = 0; i < sequences.count(); ++i) starts.insert(starts.end(), sequences.length(i), sequences.begin(i));
  const torch::Tensor wide = x.to(torch::kFloat64);
  const torch::Tensor before = torch::cat({torch::zeros_like(wide.slice(0, 0, 1)), wide.cumsum(0)});  // [T + 1, ...]
  return before.slice(0, 1) - before.index_select(0, torch::tensor(starts, torch::kInt64).to(x.device()));
}

}  // namespace

RotationImpl::RotationImpl(const Fields& config, Rng& rng)
    : heads_(config.PositiveInt("num_heads")),
      key_width_(HeadWidth(config, "expand_k", 1)),
      value_width_(HeadWidth(config, "expand_v", 1)) {
  if (key_width_ % 2 != 0) config.Refuse("num_heads", "heads whose keys have an even width");
  const int64_t D = config.PositiveInt("hidden_size"), keys = heads_ * key_width_, values = heads_ * value_width_;
  const double gain = std::pow(2.0, -2.5);
  const auto linear = [&](const char* name, int64_t in, int64_t out, bool has_bias = false) {
    Linear layer = register_module(name, Linear(in, out, has_bias));
    FillXavierUniform(layer->weight, gain, rng);
    return layer;
  };
  q_proj_ = linear("q_proj", D, keys);
  k_proj_ = linear("k_proj", D, keys);
  v_proj_ = linear("v_proj", D, values);
  g_proj_ = linear("g_proj", D, values);
  dt_proj_ = linear("dt_proj", D, heads_, /*has_bias=*/true);
  FillTimeStepBias(dt_proj_->bias, rng);
  a_proj_ = linear("a_proj", D, heads_, /*has_bias=*/true);
  angle_proj_ = linear("angle_proj", D, key_width_ / 2);
  norm_ = register_module("o_norm", RmsNorm(value_width_, config.Double("norm_eps")));
  o_proj_ = linear("o_proj", values, D);
}

RotationImpl::Turn RotationImpl::TurnOf(const torch::Tensor& dt, const torch::Tensor& a, const torch::Tensor& w) const {
  const torch::Tensor step = torch::softplus(dt + dt_proj_->bias);
  return {step, torch::exp(-step * torch::softplus(a + a_proj_->bias)),
          M_PI * torch::tanh(w).unsqueeze(1) * step.unsqueeze(2)};
}

RotationImpl::Turn RotationImpl::TurnOf(const torch::Tensor& x) {
  const auto projected = MultiplyTogether(x, {dt_proj_, a_proj_, angle_proj_});
  return TurnOf(projected[0], projected[1], projected[2]);
}

torch::Tensor RotationImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  const int64_t T = x.size(0), H = heads_, K = key_width_, V = value_width_;
  const auto projected = MultiplyTogether(x, {q_proj_, k_proj_, v_proj_, g_proj_, dt_proj_, a_proj_, angle_proj_});
  const Turn turn = TurnOf(projected[4], projected[5], projected[6]);
  const torch::Tensor angles = SumsSoFar(turn.angle, sequences);
  const torch::Tensor q = ops::RotatePairs(projected[0].view({T, H, K}), -angles);
  const torch::Tensor k = ops::RotatePairs(projected[1].view({T, H, K}), -angles) * turn.dt.unsqueeze(2);
  const bool has_state = state && !state->empty();
  const auto result =
      ops::LinearAttention(q, k, projected[2].view({T, H, V}), turn.decay,
                           {.scale = 1 / std::sqrt(static_cast<double>(K)), .return_final_state = state != nullptr},
                           sequences, has_state ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt);
  if (state) *state = {ops::RotatePairs(result.final_state, ops::LastStates(angles, sequences))};
  const torch::Tensor o = norm_->forward(result.o).reshape({T, H * V}) * torch::silu(projected[3]);
  return o_proj_->forward(o);
}

torch::Tensor RotationImpl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& /*sequences*/) {
  const Turn turn = TurnOf(x);
  const torch::Tensor decay = turn.decay.unsqueeze(2);
  return torch::complex(decay * torch::cos(turn.angle), decay * torch::sin(turn.angle));
}

torch::Tensor RotationImpl::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  const torch::Tensor eigenvalues = Eigenvalues(x, sequences);
  const torch::Tensor c = torch::diag_embed(torch::real(eigenvalues)), s = torch::diag_embed(torch::imag(eigenvalues));
  return torch::cat({torch::cat({c, -s}, 3), torch::cat({s, c}, 3)}, 2);
}

std::vector<std::string> RotationImpl::WithoutWeightDecay() const { return {"dt_proj.bias", "a_proj.bias"}; }

LayerInfo RotationInfo() {
  return {.name = "rotation",
          .title = "rotation",
          .transition = "a R(w)",
          .original = {-1, 1},
          .extended = {-1, 1},
          .keys = {{"num_heads", 4, "heads, each with a state of its own"},
                   {"expand_k", 1.0, "width of all keys / hidden_size"},
                   {"expand_v", 1.0, "width of all values / hidden_size"},
                   {"norm_eps", 1e-6, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<RotationImpl>(config, rng); }};
}

}  // namespace lrnn
