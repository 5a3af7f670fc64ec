#include "lrnn/layers/attention.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/attention.h"
#include "lrnn/ops/rotate_pairs.h"

namespace lrnn {
namespace {

// Sequences that go on: their old rows, of the state, and their new ones, packed.
class Continued {
 public:
  // seen: int64 [N]
  Continued(const ops::Sequences& sequences, const torch::Tensor& seen) : sequences_(sequences) {
    for (int64_t i = 0; i < sequences.count(); ++i) {
      before_.push_back(seen[i].item<int64_t>());
      lengths_.push_back(before_[i] + sequences.length(i));
    }
  }

  ops::Sequences AsSequences() const { return ops::Sequences::FromLengths(lengths_); }
  torch::Tensor Seen() const { return torch::tensor(lengths_, torch::kInt64); }

  // old: [N, longest, D] or undefined, rows: [T, D] -> all rows of all sequences, packed.
  torch::Tensor Pack(const torch::Tensor& old, const torch::Tensor& rows) const {
    if (!old.defined()) return rows;
    std::vector<int64_t> index;
    for (int64_t i = 0; i < sequences_.count(); ++i) {
      for (int64_t t = 0; t < before_[i]; ++t) index.push_back(i * old.size(1) + t);
      for (int64_t t = sequences_.begin(i); t < sequences_.end(i); ++t) index.push_back(old.size(0) * old.size(1) + t);
    }
    return torch::cat({old.flatten(0, 1), rows}).index_select(0, torch::tensor(index, torch::kInt64).to(rows.device()));
  }

  // Packed rows as the state keeps them, [N, longest, D]: shorter sequences end in 0.
  torch::Tensor Unpack(const torch::Tensor& packed) const {
    if (lengths_.empty()) return packed.new_zeros({0, 0, packed.size(1)});
    return torch::pad_sequence(packed.split_with_sizes(lengths_), /*batch_first=*/true);
  }

 private:
  const ops::Sequences& sequences_;
  std::vector<int64_t> before_, lengths_;
};

}  // namespace

AttentionImpl::AttentionImpl(const Fields& config, Rng& rng) : sizes_(config) {
  const int64_t D = config.PositiveInt("hidden_size");
  const double deviation = config.Double("initializer_range", 0.02);
  const auto linear = [&](const char* name, double scale) {
    Linear layer = register_module(name, Linear(D, D));
    FillNormal(layer->weight, scale, rng);
    return layer;
  };
  q_proj_ = linear("q_proj", deviation);
  k_proj_ = linear("k_proj", deviation);
  v_proj_ = linear("v_proj", deviation);
  // What is added to the stream is smaller in deeper models.
  o_proj_ =
      linear("o_proj", deviation / std::sqrt(2 * static_cast<double>(config.PositiveInt("num_hidden_layers", 1))));
}

torch::Tensor AttentionImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  const int64_t T = x.size(0), H = sizes_.heads, K = sizes_.head_width;
  const bool has_past = state && !state->empty();
  const torch::Tensor seen = has_past ? (*state)[0] : torch::zeros({sequences.count()}, torch::kInt64);
  const auto projected = MultiplyTogether(x, {q_proj_, k_proj_, v_proj_});
  const torch::Tensor angles =
      ops::RotaryAngles(ops::Positions(sequences, has_past ? c10::optional<torch::Tensor>(seen) : c10::nullopt), K,
                        sizes_.rope_theta)
          .to(x.device());
  const torch::Tensor q = ops::RotatePairs(projected[0].view({T, H, K}), angles);
  torch::Tensor k = ops::RotatePairs(projected[1].view({T, H, K}), angles).view({T, H * K}), v = projected[2];
  const Continued all(sequences, seen);
  if (state) {
    k = all.Pack(has_past ? (*state)[1] : torch::Tensor(), k);
    v = all.Pack(has_past ? (*state)[2] : torch::Tensor(), v);
    *state = {all.Seen(), all.Unpack(k), all.Unpack(v)};
  }
  const torch::Tensor o = ops::Attention(q, k.view({-1, H, K}), v.view({-1, H, K}),
                                         1 / std::sqrt(static_cast<double>(K)), sequences, all.AsSequences());
  return o_proj_->forward(o.view({T, H * K}));
}

LayerInfo AttentionInfo() {
  return {.name = "attention",
          .title = "attention",
          .transition = "",
          .keys = {{"num_heads", 4, "heads, each of width hidden_size / num_heads"},
                   {"rope_theta", 10000.0, "base of the position's angles"},
                   {"norm_eps", 1e-6, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<AttentionImpl>(config, rng); }};
}

}  // namespace lrnn
