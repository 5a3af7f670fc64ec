#include "lrnn/models/model.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lrnn/base/error.h"
#include "lrnn/io/layer_configs.h"
#include "lrnn/io/slstm_config.h"
#include "lrnn/layers/initialise.h"
#include "lrnn/layers/named_part.h"
#include "lrnn/layers/registry.h"
#include "lrnn/ops/linear.h"

namespace lrnn {
BlockImpl::BlockImpl(const Fields& config, const Skeleton& skeleton, Rng& rng)
    : has_residual_(skeleton.has_residual), mixer_name_(skeleton.mixer) {
  const int64_t D = config.PositiveInt("hidden_size");
  const double eps = config.Double(skeleton.norm_eps_key, skeleton.norm_eps);
  mixer_norm_ = register_module(skeleton.mixer_norm, RmsNorm(D, eps));
  const LayerInfo& layer = FindLayer(config.String("model_type"));
  mixer_ = register_module(skeleton.mixer, layer.make(config, rng));
  if (skeleton.has_mlp) {
    const int64_t inner = config.PositiveInt("intermediate_size");
    const double deviation = config.Double("initializer_range");
    const double shrink = 1 / std::sqrt(2 * static_cast<double>(config.PositiveInt("num_hidden_layers")));
    mlp_norm_ = register_module("mlp_norm", RmsNorm(D, eps));
    mlp_ = register_module("mlp", SwiGlu(D, inner, deviation, rng));
    if (layer.uniform_mlp_down) {
      FillUniform(mlp_->down_weight(), shrink / std::sqrt(static_cast<double>(inner)), rng);
    } else {
      FillNormal(mlp_->down_weight(), shrink * deviation, rng);
    }
  }
  if (skeleton.has_gated_gelu) {
    const double width = static_cast<double>(D), depth = static_cast<double>(config.PositiveInt("num_hidden_layers"));
    mlp_norm_ = register_module("ffn_norm", RmsNorm(D, eps));
    gated_gelu_ = register_module("ffn", GatedGelu(D, SlstmConfig(config).ffn_inner, std::sqrt(2 / (5 * width)),
                                                   2 / (depth * std::sqrt(width)), rng));
  }
}

torch::Tensor BlockImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state,
                                 const c10::optional<torch::Tensor>& rows) {
  const torch::Tensor mixed = mixer_->forward(mixer_norm_->forward(x), sequences, state);
  const torch::Tensor change = rows ? mixed.index_select(0, *rows) : mixed;
  if (!has_residual_) return mlp_ ? change + mlp_->forward(mlp_norm_->forward(change)) : change;
  const torch::Tensor before = rows ? x.index_select(0, *rows) : x;
  if (!mlp_ && !gated_gelu_) return before + change;
  const auto [h, normed] = mlp_norm_->OfSum(before, change);
  return h + (mlp_ ? mlp_->forward(normed) : gated_gelu_->forward(normed));
}

namespace {

// The list of a hybrid with all keys of all layers, so that the file does not depend on defaults.
nlohmann::json CompleteList(const Fields& config) {
  nlohmann::json list = nlohmann::json::array();
  for (const Fields& given : ListedLayers(config)) {
    const LayerInfo* layer;
    try {
      layer = &FindLayer(given.String("model_type"));
    } catch (const Error& error) {
      Fail("{}: {}", given.source(), error.what());
    }
    const nlohmann::json with_defaults = WithDefaults(*layer, given).json();
    nlohmann::json complete = {{"layer", layer->name}, {"allow_neg_eigval", with_defaults["allow_neg_eigval"]}};
    for (const ConfigKey& key : layer->keys) complete[key.name] = with_defaults[key.name];
    const nlohmann::json& entry = config.json().at("layers")[list.size()];
    if (entry.is_object()) {
      for (const auto& item : entry.items()) {
        LRNN_CHECK(complete.contains(item.key()), "{}: unknown key \"{}\" of {}", given.source(), item.key(),
                   layer->name);
      }
    }
    list.push_back(std::move(complete));
  }
  return list;
}

// Settings that all models have, with their defaults.
Fields CompleteConfig(const Fields& config, const Skeleton& skeleton) {
  const bool is_hybrid = config.String("model_type") == kHybrid;
  const Fields layer = is_hybrid ? config : WithDefaults(FindLayer(config.String("model_type")), config);
  nlohmann::json all = layer.json();
  const auto set_default = [&](const std::string& key, const nlohmann::json& value) {
    if (!layer.Has(key)) all[key] = value;
  };
  if (is_hybrid) {
    all["layers"] = CompleteList(config);
    set_default("num_hidden_layers", all["layers"].size());
  }
  set_default(skeleton.norm_eps_key, skeleton.norm_eps);
  set_default("tie_word_embeddings", false);
  set_default("use_final_norm", true);
  if (skeleton.has_mlp) {
    set_default("initializer_range", 0.02);
    set_default("hidden_ratio", 4);
    const Fields so_far(all, config.source());
    set_default("intermediate_size",
                DefaultIntermediateSize(so_far.PositiveInt("hidden_size"), so_far.PositiveInt("hidden_ratio")));
  }
  return Fields(std::move(all), config.source());
}

// With the place of the layer in the model, on which some initial weights depend.
Fields WithIndex(const Fields& layer, size_t index) {
  nlohmann::json all = layer.json();
  all["layer_index"] = index;
  return Fields(std::move(all), layer.source());
}

}  // namespace

ModelImpl::ModelImpl(const Fields& config, uint64_t seed)
    : config_(CompleteConfig(config, SkeletonOf(config.String("model_type")))),
      skeleton_(SkeletonOf(config.String("model_type"))),
      vocab_size_(config.PositiveInt("vocab_size")) {
  Rng rng(DeriveSeed(seed, 0), 0);
  const int64_t D = config_.PositiveInt("hidden_size");
  auto root = std::make_shared<NamedPart>(), embeddings = std::make_shared<NamedPart>(),
       layers = std::make_shared<NamedPart>();
  register_module(skeleton_.root, root);
  root->register_module("embeddings", embeddings);
  root->register_module("layers", layers);

  // The fla models draw embedding and head from N(0, initializer_range); Mamba's authors keep PyTorch's defaults.
  const double small = std::sqrt(2 / (5 * static_cast<double>(D)));
  embedding_ = embeddings->register_parameter("weight", torch::empty({vocab_size_, D}));
  FillNormal(embedding_,
             skeleton_.has_mlp      ? config_.Double("initializer_range")
             : skeleton_.small_init ? small
                                    : 1.0,
             rng);
  for (const Fields& layer : LayerConfigs(config_)) {
    const Skeleton& block = SkeletonOf(layer.String("model_type"));
    blocks_.push_back(
        layers->register_module(std::to_string(blocks_.size()), Block(WithIndex(layer, blocks_.size()), block, rng)));
  }
  if (config_.Bool("use_final_norm")) {
    final_norm_ = root->register_module(skeleton_.final_norm, RmsNorm(D, config_.Double(skeleton_.norm_eps_key)));
  }
  if (!config_.Bool("tie_word_embeddings")) {
    head_ = register_module("lm_head", Linear(D, vocab_size_));
    if (skeleton_.has_mlp) {
      FillNormal(head_->weight, config_.Double("initializer_range"), rng);
    } else if (skeleton_.small_init) {
      FillNormal(head_->weight, small, rng);
    } else {
      FillUniform(head_->weight, 1 / std::sqrt(static_cast<double>(D)), rng);
    }
  }
}

torch::Tensor ModelImpl::forward(const torch::Tensor& tokens, const ops::Sequences& sequences,
                                 const c10::optional<torch::Tensor>& rows, ModelState* state) {
  LRNN_CHECK(tokens.dim() == 1 && tokens.size(0) == sequences.tokens(),
             "[Model] expected {} tokens in one dimension, got [{}]", sequences.tokens(),
             fmt::join(tokens.sizes(), ", "));
  if (state && state->empty()) state->resize(blocks_.size());
  const ops::Sequences with_ids = sequences.WithIds(tokens);
  torch::Tensor x = torch::embedding(embedding_, tokens);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const bool last = i + 1 == blocks_.size();
    x = blocks_[i]->forward(x, with_ids, state ? &(*state)[i] : nullptr, last ? rows : c10::nullopt);
  }
  if (final_norm_) x = final_norm_->forward(x);
  return head_ ? head_->forward(x) : ops::Linear(x, embedding_);
}

std::vector<torch::Tensor> ModelImpl::Eigenvalues(const torch::Tensor& tokens, const ops::Sequences& sequences) {
  std::vector<torch::Tensor> eigenvalues;
  const ops::Sequences with_ids = sequences.WithIds(tokens);
  torch::Tensor x = torch::embedding(embedding_, tokens);
  for (Block& block : blocks_) {
    auto* const linear = dynamic_cast<LinearMixer*>(&block->mixer());
    eigenvalues.push_back(linear ? linear->Eigenvalues(block->MixerInput(x), with_ids) : torch::Tensor());
    x = block->forward(x, with_ids, nullptr, c10::nullopt);
  }
  return eigenvalues;
}

std::vector<std::string> ModelImpl::WithoutWeightDecay() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    for (const std::string& name : blocks_[i]->mixer().WithoutWeightDecay()) {
      names.push_back(fmt::format("{}.layers.{}.{}.{}", skeleton_.root, i, blocks_[i]->mixer_name(), name));
    }
  }
  return names;
}

int64_t ModelImpl::parameter_count() const {
  int64_t count = 0;
  for (const torch::Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

int64_t ModelImpl::state_size() const {
  int64_t size = 0;
  for (const Block& block : blocks_) size += block->mixer().state_size();
  return size;
}

int64_t ModelImpl::state_growth() const {
  int64_t growth = 0;
  for (const Block& block : blocks_) growth += block->mixer().state_growth();
  return growth;
}

EigenvalueRange ModelImpl::eigenvalue_range() const {
  std::optional<EigenvalueRange> range;
  for (const Block& block : blocks_) {
    const auto* const linear = dynamic_cast<const LinearMixer*>(&block->mixer());
    if (!linear) continue;
    const EigenvalueRange next = linear->eigenvalue_range();
    range = range ? EigenvalueRange{std::min(range->low, next.low), std::max(range->high, next.high)} : next;
  }
  LRNN_CHECK(range, "{}: the model has no linear layer, so there are no eigenvalues", config_.source());
  return *range;
}

}  // namespace lrnn
