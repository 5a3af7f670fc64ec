#include "lrnn/io/dialects.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "lrnn/base/error.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/skeleton.h"

namespace lrnn {
namespace {

void Rename(TensorMap& tensors, const std::string& from, const std::string& to) {
  const auto found = tensors.find(from);
  if (found == tensors.end() || tensors.contains(to)) return;
  const TensorView view = found->second;
  tensors.erase(found);
  tensors.emplace(to, view);
}

void RenameKey(nlohmann::json& config, const char* from, const char* to) {
  if (config.contains(from) && !config.contains(to)) config[to] = config[from];
}

// The names of all tensors that end so, without the end.
std::vector<std::string> Prefixes(const TensorMap& tensors, std::string_view end) {
  std::vector<std::string> prefixes;
  for (const auto& [name, view] : tensors) {
    if (name.ends_with(end)) prefixes.push_back(name.substr(0, name.size() - end.size()));
  }
  return prefixes;
}

// ssm_cfg may only have settings whose meaning is known here, or that matter only before training.
void CheckSsmConfig(const Fields& ssm) {
  static const std::set<std::string, std::less<>> known = {
      "layer",    "d_state",       "d_conv",       "expand",     "dt_rank",       "headdim",
      "ngroups",  "bias",          "conv_bias",    "dt_min",     "dt_max",        "dt_init",
      "dt_scale", "dt_init_floor", "A_init_range", "chunk_size", "use_fast_path", "use_mem_eff_path"};
  for (const auto& item : ssm.json().items()) {
    if (!known.contains(item.key())) ssm.Refuse(item.key(), "no such setting");
  }
}

// The config of state-spaces/mamba, whose models are saved without a model_type.
nlohmann::json FromStateSpaces(const Fields& config) {
  const Fields ssm = config.Has("ssm_cfg") ? config.Object("ssm_cfg") : Fields(nlohmann::json::object(), "");
  CheckSsmConfig(ssm);
  const std::string layer = ssm.String("layer", "Mamba1");
  if (layer != "Mamba1" && layer != "Mamba2") ssm.Refuse("layer", "\"Mamba1\" or \"Mamba2\"");
  if (config.Has("attn_layer_idx") && !config.json().at("attn_layer_idx").empty()) {
    config.Refuse("attn_layer_idx", "[] (no attention layers)");
  }
  if (config.Int("d_intermediate", 0) != 0) config.Refuse("d_intermediate", "0 (no MLP)");
  if (!config.Bool("rms_norm", true)) config.Refuse("rms_norm", "true");

  const int64_t D = config.PositiveInt("d_model"), expand = ssm.PositiveInt("expand", 2);
  const int64_t multiple = config.PositiveInt("pad_vocab_size_multiple", 8);
  const bool is_first = layer == "Mamba1";
  nlohmann::json own = {{"model_type", is_first ? "mamba" : "mamba2"},
                        {"hidden_size", D},
                        {"num_hidden_layers", config.PositiveInt("n_layer")},
                        {"vocab_size", (config.PositiveInt("vocab_size") + multiple - 1) / multiple * multiple},
                        {"tie_word_embeddings", config.Bool("tie_embeddings", true)},
                        {"layer_norm_epsilon", 1e-5},
                        {"expand", expand},
                        {"state_size", ssm.PositiveInt("d_state", is_first ? 16 : 128)},
                        {"conv_kernel", ssm.PositiveInt("d_conv", 4)},
                        {"use_bias", ssm.Bool("bias", false)},
                        {"use_conv_bias", ssm.Bool("conv_bias", true)}};
  if (is_first) {
    own["time_step_rank"] = ssm.json().value("dt_rank", nlohmann::json("auto"));
  } else {
    const int64_t head_width = ssm.PositiveInt("headdim", 64);
    if (expand * D % head_width != 0)
      ssm.Refuse("headdim", fmt::format("a divisor of {} (expand d_model)", expand * D));
    own["head_dim"] = head_width;
    own["num_heads"] = expand * D / head_width;
    own["n_groups"] = ssm.PositiveInt("ngroups", 1);
  }
  for (const char* key : {"allow_neg_eigval", "lrnn"}) {
    if (config.Has(key)) own[key] = config.json().at(key);
  }
  return own;
}

// `mlp.gate_proj.weight` of both rows into its halves, gate first.
void SplitGates(const nlohmann::json& config, TensorMap& tensors, const std::string& source) {
  const Fields fields(config, source);
  for (const std::string& mlp : Prefixes(tensors, ".mlp.gate_proj.weight")) {
    if (tensors.contains(mlp + ".mlp.up_proj.weight")) continue;
    const int64_t inner = fields.PositiveInt(
        "intermediate_size",
        DefaultIntermediateSize(fields.PositiveInt("hidden_size"), fields.PositiveInt("hidden_ratio", 4)));
    TensorView& gate = tensors.at(mlp + ".mlp.gate_proj.weight");
    if (gate.shape.size() != 2 || gate.shape[0] != 2 * inner) continue;  // the missing up_proj is the error
    gate.shape[0] = inner;
    gate.bytes /= 2;
    TensorView up = gate;
    up.data += up.bytes;
    tensors.emplace(mlp + ".mlp.up_proj.weight", up);
  }
}

// `prefix.k_projs.0.weight`, `prefix.k_projs.1.weight`, ... one below the other as `prefix.k_proj.weight`.
void JoinSteps(TensorMap& tensors, const std::string& prefix, const std::string& name,
               std::vector<std::vector<std::byte>>& storage) {
  std::vector<std::byte> bytes;
  TensorView joined{};
  for (int64_t step = 0;; ++step) {
    const std::string part = fmt::format("{}.{}s.{}.weight", prefix, name, step);
    const auto found = tensors.find(part);
    if (found == tensors.end()) break;
    const TensorView view = found->second;
    LRNN_CHECK(!view.shape.empty(), "tensor \"{}\": expected a matrix, got a scalar", part);
    if (step == 0) {
      joined = view;
      joined.shape[0] = 0;
    }
    std::vector<int64_t> rows_alike = view.shape;
    rows_alike[0] = joined.shape[0];
    LRNN_CHECK(rows_alike == joined.shape && view.dtype == joined.dtype,
               "tensor \"{}\": expected shape {} and type {} as in the steps before, got {} and {}", part,
               ShapeString(joined.shape), Name(joined.dtype), ShapeString(view.shape), Name(view.dtype));
    joined.shape[0] += view.shape[0];
    bytes.insert(bytes.end(), view.data, view.data + view.bytes);
    tensors.erase(found);
  }
  if (bytes.empty()) return;
  joined.bytes = bytes.size();
  storage.push_back(std::move(bytes));
  joined.data = storage.back().data();
  tensors.emplace(fmt::format("{}.{}.weight", prefix, name), joined);
}

void FromSteps(nlohmann::json& config, TensorMap& tensors, std::vector<std::vector<std::byte>>& storage) {
  RenameKey(config, "use_gate", "use_output_gate");
  if (!config.contains("use_forget_gate")) config["use_forget_gate"] = !Prefixes(tensors, ".attn.A_log").empty();
  for (const std::string& attn : Prefixes(tensors, ".k_projs.0.weight")) {
    for (const char* name : {"k_proj", "v_proj", "b_proj", "k_conv1d", "v_conv1d"}) {
      JoinSteps(tensors, attn, name, storage);
    }
    // Of the convolutions of q only the first was used.
    Rename(tensors, attn + ".q_conv1ds.0.weight", attn + ".q_conv1d.weight");
    for (int64_t step = 1; tensors.erase(fmt::format("{}.q_conv1ds.{}.weight", attn, step)) > 0; ++step) {
    }
  }
}

}  // namespace

void ToOneForm(nlohmann::json& config, TensorMap& tensors, std::vector<std::vector<std::byte>>& storage,
               const std::string& source) {
  if (!config.contains("model_type") && config.contains("d_model")) {
    config = FromStateSpaces(Fields(config, source));
    Rename(tensors, "backbone.embedding.weight", "backbone.embeddings.weight");
    return;
  }
  const Fields fields(config, source);
  const std::string type = fields.String("model_type", "");
  if (type == "mamba" || type == "mamba2") {
    RenameKey(config, "norm_eps", "layer_norm_epsilon");
    RenameKey(config, "dt_rank", "time_step_rank");
    Rename(tensors, "backbone.embedding.weight", "backbone.embeddings.weight");
    return;
  }
  static constexpr std::array kFla = {"delta_net", "gated_deltanet", "gated_deltaproduct", "gla"};
  if (std::find(kFla.begin(), kFla.end(), type) == kFla.end()) return;
  if (fields.Bool("share_conv_kernel", false)) fields.Refuse("share_conv_kernel", "false");
  if (fields.Has("attnres_block_size")) fields.Refuse("attnres_block_size", "null");
  for (const char* part : {"attn", "mlp"}) {
    for (const std::string& layer : Prefixes(tensors, fmt::format(".{}.norm.weight", part))) {
      Rename(tensors, fmt::format("{}.{}.norm.weight", layer, part), fmt::format("{}.{}_norm.weight", layer, part));
    }
  }
  SplitGates(config, tensors, source);
  if (type == "gated_deltaproduct") FromSteps(config, tensors, storage);
  if (type == "gla" && !Prefixes(tensors, ".attn.g_norm.weight").empty()) config["fuse_norm"] = false;
}

}  // namespace lrnn
