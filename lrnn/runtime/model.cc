#include "lrnn/runtime/model.h"

#include <algorithm>
#include <string>

#include "lrnn/base/error.h"
#include "lrnn/base/flush_subnormals.h"
#include "lrnn/io/layer_configs.h"
#include "lrnn/io/model_directory.h"
#include "lrnn/io/skeleton.h"
#include "lrnn/kernels/matvec.h"
#include "lrnn/kernels/rms_norm.h"
#include "lrnn/runtime/gated_gelu.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/registry.h"
#include "lrnn/runtime/swiglu.h"

namespace lrnn {

// x <- x + mixer(RMSNorm(x)), or without x +. A block is one of these, or two where the second is an MLP.
struct RuntimeSublayer {
  std::vector<float> norm;  // [D]
  float eps;                // of the norm
  bool has_residual;
  std::unique_ptr<RuntimeMixer> mixer;
};

struct RuntimeNetwork {
  explicit RuntimeNetwork(WeightReader& weights);

  Vocabulary vocabulary;
  int64_t vocab_size;
  int64_t D;
  std::vector<float> embedding;  // [vocab_size, D]
  std::vector<RuntimeSublayer> sublayers;
  std::vector<float> final_norm;  // [D], or empty for none
  float final_eps;
  std::vector<float> head;  // [vocab_size, D], or empty: the embedding
};

RuntimeNetwork::RuntimeNetwork(WeightReader& weights) : vocabulary(Vocabulary::FromConfig(weights.config())) {
  const Fields& config = weights.config();
  const std::vector<Fields> layers = LayerConfigs(config);
  for (const Fields& layer : layers) FindRuntimeLayer(layer);  // or an Error before anything is read
  const Skeleton& skeleton = SkeletonOf(config.String("model_type"));
  vocab_size = config.PositiveInt("vocab_size");
  D = config.PositiveInt("hidden_size");
  embedding = weights.Read(skeleton.root + ".embeddings.weight", {vocab_size, D});

  const auto eps = [](const Fields& fields, const Skeleton& names) {
    return static_cast<float>(fields.Double(names.norm_eps_key, names.norm_eps));
  };
  for (size_t i = 0; i < layers.size(); ++i) {
    const RuntimeLayer& layer = FindRuntimeLayer(layers[i]);
    const Skeleton& block = SkeletonOf(layer.model_type);
    const std::string prefix = fmt::format("{}.layers.{}.", skeleton.root, i);
    const auto add = [&](const std::string& norm, bool has_residual, const std::string& mixer, auto* load) {
      std::vector<float> scale = weights.Read(prefix + norm + ".weight", {D});
      sublayers.push_back({std::move(scale), eps(layers[i], block), has_residual, load(weights, prefix + mixer)});
    };
    weights.UseConfig(layers[i]);
    add(block.mixer_norm, block.has_residual, block.mixer, layer.load);
    if (block.has_mlp) add("mlp_norm", true, "mlp", LoadRuntimeSwiGlu);
    if (block.has_gated_gelu) add("ffn_norm", true, "ffn", LoadRuntimeGatedGelu);
  }
  weights.UseConfig(config);

  final_eps = eps(config, skeleton);
  if (config.Bool("use_final_norm", true)) {
    final_norm = weights.Read(fmt::format("{}.{}.weight", skeleton.root, skeleton.final_norm), {D});
  }
  // Hugging Face leaves out the key when it is true; a tied head may be stored all the same.
  const std::string head_name = "lm_head.weight";
  if (config.Bool("tie_word_embeddings", !weights.Has(head_name))) {
    weights.Skip(head_name);
  } else {
    head = weights.Read(head_name, {vocab_size, D});
  }
  weights.CheckAllRead();
}

Session::Session(std::shared_ptr<const RuntimeNetwork> network) : network_(std::move(network)) {
  int64_t scratch = 0;
  for (const RuntimeSublayer& sublayer : network_->sublayers) {
    scratch = std::max(scratch, sublayer.mixer->ScratchSize());
  }
  states_.resize(network_->sublayers.size());
  scratch_.resize(scratch);
  for (std::vector<float>* row : {&x_, &normed_, &mixed_}) row->resize(network_->D);
  logits_.resize(network_->vocab_size);
  Reset();
}

void Session::Reset() {
  for (size_t i = 0; i < states_.size(); ++i) {
    const RuntimeMixer& mixer = *network_->sublayers[i].mixer;
    states_[i].resize(mixer.StateSize());
    mixer.InitState(states_[i].data());
  }
}

size_t Session::StateBytes() const {
  size_t floats = 0;
  for (const std::vector<float>& state : states_) floats += state.size();
  return floats * sizeof(float);
}

void Session::SaveState(std::vector<float>& state) const {
  state.clear();
  for (size_t i = 0; i < states_.size(); ++i) {
    LRNN_CHECK(
        network_->sublayers[i].mixer->StateGrowth() == 0,
        "[Session::SaveState] expected a model whose state is of fixed size, got one that grows with every token");
    state.insert(state.end(), states_[i].begin(), states_[i].end());
  }
}

void Session::LoadState(std::span<const float> state) {
  LRNN_CHECK(state.size_bytes() == StateBytes(), "[Session::LoadState] expected {} numbers, got {}",
             StateBytes() / sizeof(float), state.size());
  for (std::vector<float>& own : states_) {
    std::copy_n(state.begin(), own.size(), own.begin());
    state = state.subspan(own.size());
  }
}

std::span<const float> Session::Step(int32_t token) {
  const RuntimeNetwork& net = *network_;
  LRNN_CHECK(token >= 0 && token < net.vocab_size,
             "[Session::Step] expected a token in 0 .. {} (vocabulary of {}), got {}", net.vocab_size - 1,
             net.vocab_size, token);
  const FlushSubnormals flush;
  std::copy_n(net.embedding.data() + token * net.D, net.D, x_.data());
  for (size_t s = 0; s < net.sublayers.size(); ++s) {
    const RuntimeSublayer& sublayer = net.sublayers[s];
    std::vector<float>& state = states_[s];
    state.resize(state.size() + sublayer.mixer->StateGrowth());
    kernels::RmsNorm(x_.data(), net.D, 1, net.D, sublayer.norm.data(), sublayer.eps, normed_.data(), /*threads=*/1);
    sublayer.mixer->StepToken(token, normed_.data(), state.data(), scratch_.data(), mixed_.data());
    for (int64_t i = 0; i < net.D; ++i) x_[i] = sublayer.has_residual ? x_[i] + mixed_[i] : mixed_[i];
  }
  const float* last = x_.data();
  if (!net.final_norm.empty()) {
    kernels::RmsNorm(x_.data(), net.D, 1, net.D, net.final_norm.data(), net.final_eps, normed_.data(), /*threads=*/1);
    last = normed_.data();
  }
  const std::vector<float>& head = net.head.empty() ? net.embedding : net.head;
  kernels::MatVec(head.data(), last, nullptr, net.vocab_size, net.D, logits_.data(), /*threads=*/1);
  return logits_;
}

RuntimeModel RuntimeModel::Load(const std::filesystem::path& path) {
  const ModelDirectory files = ModelDirectory::Open(path);
  WeightReader weights(files);
  return RuntimeModel(std::make_shared<const RuntimeNetwork>(weights));
}

int64_t RuntimeModel::vocab_size() const { return network_->vocab_size; }

const Vocabulary& RuntimeModel::vocabulary() const { return network_->vocabulary; }

}  // namespace lrnn
