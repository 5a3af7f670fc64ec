#include "bench/eager.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace lrnn::bench {
namespace {

using torch::Tensor;
using torch::indexing::Slice;

// The parameters below a prefix of names.
class Weights {
 public:
  Weights(Model& model, std::string prefix) : parameters_(model->named_parameters()), prefix_(std::move(prefix)) {}
  const Tensor& operator[](const std::string& name) const { return parameters_[prefix_ + name]; }
  Tensor Linear(const std::string& name, const Tensor& x) const { return torch::linear(x, (*this)[name + ".weight"]); }
  Tensor RmsNorm(const std::string& name, const Tensor& x, double eps) const {
    return x * torch::rsqrt(x.square().mean(-1, true) + eps) * (*this)[name + ".weight"];
  }

 private:
  torch::OrderedDict<std::string, Tensor> parameters_;
  std::string prefix_;
};

// silu of the causal convolution along time. x: [N, L, C]   weight: [C, 1, width]   bias: [C] or undefined
Tensor ConvSilu(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const int64_t width = weight.size(2), L = x.size(1);
  const Tensor y = torch::conv1d(x.transpose(1, 2), weight, bias, /*stride=*/1, /*padding=*/width - 1, /*dilation=*/1,
                                 /*groups=*/x.size(2));
  return torch::silu(y.index({Slice(), Slice(), Slice(0, L)}).transpose(1, 2));
}

// The delta rule with the WY form of each chunk. q, k, v: [N, H, L, K]   beta: [N, H, L]
Tensor ChunkDeltaRule(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& beta) {
  constexpr int64_t kChunk = 64;
  const int64_t L = q.size(2);
  Tensor S = torch::zeros({q.size(0), q.size(1), k.size(3), v.size(3)});
  std::vector<Tensor> outputs;
  for (int64_t first = 0; first < L; first += kChunk) {
    const auto chunk = [&](const Tensor& x) { return x.narrow(2, first, std::min(kChunk, L - first)); };
    const Tensor Q = chunk(q), K = chunk(k), b = chunk(beta).unsqueeze(-1), bK = K * b;
    const Tensor system = torch::eye(Q.size(2)) + torch::tril(bK.matmul(K.transpose(2, 3)), -1);
    const Tensor solved = torch::linalg_solve_triangular(system, torch::cat({bK, chunk(v) * b}, -1), /*upper=*/false);
    const auto parts = solved.split_with_sizes({k.size(3), v.size(3)}, -1);
    const Tensor errors = first == 0 ? parts[1] : parts[1] - parts[0].matmul(S);
    Tensor o = torch::tril(Q.matmul(K.transpose(2, 3))).matmul(errors);
    if (first > 0) o = o + Q.matmul(S);
    outputs.push_back(o);
    if (first + kChunk < L) S = S + K.transpose(2, 3).matmul(errors);
  }
  return outputs.size() == 1 ? outputs[0] : torch::cat(outputs, 2);
}

Tensor DeltaNet(const Weights& w, const Fields& config, const Tensor& x) {
  const int64_t N = x.size(0), L = x.size(1), H = config.PositiveInt("num_heads");
  const auto projected = [&](const std::string& name) {
    const Tensor y = ConvSilu(w.Linear(name + "_proj", x), w[name + "_conv1d.weight"], {});
    return y.view({N, L, H, -1}).transpose(1, 2);
  };
  const auto normalised = [](const Tensor& y) { return y * torch::rsqrt(y.square().sum(-1, true) + 1e-6); };
  const Tensor q = normalised(projected("q")), k = normalised(projected("k")), v = projected("v");
  Tensor beta = torch::sigmoid(w.Linear("b_proj", x)).transpose(1, 2);
  if (config.Bool("allow_neg_eigval")) beta = 2 * beta;
  const Tensor o = ChunkDeltaRule(q / std::sqrt(static_cast<double>(q.size(3))), k, v, beta);
  return w.Linear("o_proj", w.RmsNorm("o_norm", o.transpose(1, 2), config.Double("norm_eps")).reshape({N, L, -1}));
}

// h_t = a_t h_{t-1} + b_t for all t at once: after step i each (a, b) stands for the last 2^i tokens. a, b: [N, L, ...]
Tensor ParallelScan(Tensor a, Tensor b) {
  const int64_t L = a.size(1);
  for (int64_t step = 1; step < L; step *= 2) {
    const Tensor late_a = a.narrow(1, step, L - step);
    b = torch::cat({b.narrow(1, 0, step), b.narrow(1, step, L - step) + late_a * b.narrow(1, 0, L - step)}, 1);
    a = torch::cat({a.narrow(1, 0, step), late_a * a.narrow(1, 0, L - step)}, 1);
  }
  return b;
}

Tensor Mamba(const Weights& w, const Fields& config, const Tensor& x) {
  const int64_t states = config.PositiveInt("state_size");
  const auto uz = w.Linear("in_proj", x).chunk(2, -1);
  const Tensor u = ConvSilu(uz[0], w["conv1d.weight"], w["conv1d.bias"]);
  const Tensor low = w.Linear("x_proj", u);
  const auto parts = low.split_with_sizes({low.size(2) - 2 * states, states, states}, -1);
  const Tensor dt = torch::softplus(torch::linear(parts[0], w["dt_proj.weight"], w["dt_proj.bias"]));
  Tensor decay = torch::exp(dt.unsqueeze(-1) * -torch::exp(w["A_log"]));  // [N, L, channels, states]
  if (config.Bool("allow_neg_eigval")) decay = 2 * decay - 1;
  const Tensor h = ParallelScan(decay, (dt * u).unsqueeze(-1) * parts[1].unsqueeze(2));
  const Tensor y = (h * parts[2].unsqueeze(2)).sum(-1) + w["D"] * u;
  return w.Linear("out_proj", y * torch::silu(uz[1]));
}

}  // namespace

Tensor EagerLogits(Model& model, const Tensor& tokens, const Tensor& lengths) {
  const Fields& config = model->config();
  const bool is_mamba = config.String("model_type") == "mamba";
  const double eps = config.Double(is_mamba ? "layer_norm_epsilon" : "norm_eps");
  const std::string root = is_mamba ? "backbone." : "model.";
  const Weights top(model, ""), stem(model, root);
  Tensor x = torch::embedding(stem["embeddings.weight"], tokens);
  for (int64_t i = 0; i < config.PositiveInt("num_hidden_layers"); ++i) {
    const std::string layer = fmt::format("{}layers.{}.", root, i);
    const Weights block(model, layer), mixer(model, layer + (is_mamba ? "mixer." : "attn."));
    if (is_mamba) {
      x = x + Mamba(mixer, config, block.RmsNorm("norm", x, eps));
      continue;
    }
    x = x + DeltaNet(mixer, config, block.RmsNorm("attn_norm", x, eps));
    const Tensor normed = block.RmsNorm("mlp_norm", x, eps);
    x = x + block.Linear("mlp.down_proj",
                         torch::silu(block.Linear("mlp.gate_proj", normed)) * block.Linear("mlp.up_proj", normed));
  }
  const Tensor last = x.index({torch::arange(x.size(0)), lengths - 1});
  return top.Linear("lm_head", stem.RmsNorm(is_mamba ? "norm_f" : "norm", last, eps));
}

}  // namespace lrnn::bench
