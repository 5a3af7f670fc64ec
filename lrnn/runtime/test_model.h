// For tests: small models of random weights, and in plain double precision what all layers share.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/io/model_directory.h"

namespace lrnn {

using Row = std::vector<double>;

inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double Silu(double x) { return x * Sigmoid(x); }

struct TestModel {
  struct Tensor {
    std::vector<int64_t> shape;
    std::vector<float> values;
  };

  nlohmann::json config;
  std::map<std::string, Tensor> tensors;

  // Values shift + scale N(0, 1).
  void Add(const std::string& name, std::vector<int64_t> shape, double scale, double shift = 0) {
    Rng rng(17, tensors.size());
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    Tensor tensor{std::move(shape), std::vector<float>(count)};
    for (float& value : tensor.values) value = static_cast<float>(shift + scale * rng.Normal());
    tensors[name] = std::move(tensor);
  }

  void Write(const std::filesystem::path& path) const {
    TensorMap views;
    for (const auto& [name, tensor] : tensors) views.emplace(name, FloatView(tensor.shape, tensor.values));
    WriteModelDirectory(path, config, views);
  }

  const std::vector<float>& operator[](const std::string& name) const { return tensors.at(name).values; }

  // W x (+ bias) of `name.weight` and `name.bias`.
  Row Linear(const std::string& name, const Row& x) const {
    const Tensor& weight = tensors.at(name + ".weight");
    const auto bias = tensors.find(name + ".bias");
    Row y(weight.shape[0]);
    for (size_t i = 0; i < y.size(); ++i) {
      if (bias != tensors.end()) y[i] = bias->second.values[i];
      for (size_t j = 0; j < x.size(); ++j) y[i] += double{weight.values[i * x.size() + j]} * x[j];
    }
    return y;
  }

  // RMSNorm with the scale `name.weight`.
  Row Norm(const std::string& name, const Row& x, double eps) const {
    double squares = 0;
    for (double value : x) squares += value * value;
    Row y = x;
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] *= (*this)[name + ".weight"][i] / std::sqrt(squares / static_cast<double>(x.size()) + eps);
    }
    return y;
  }

  Row Embedding(const std::string& name, int32_t token) const {
    const Tensor& weight = tensors.at(name + ".weight");
    const auto begin = weight.values.begin() + token * weight.shape[1];
    return Row(begin, begin + weight.shape[1]);
  }

  // The causal depthwise convolution `name.weight` [C, 1, W] at the last of the inputs, with `name.bias` if there is
  // one.
  Row Conv(const std::string& name, const std::vector<Row>& inputs) const {
    const Tensor& weight = tensors.at(name + ".weight");
    const auto bias = tensors.find(name + ".bias");
    const int64_t W = weight.shape[2], T = static_cast<int64_t>(inputs.size());
    Row y(weight.shape[0]);
    for (size_t c = 0; c < y.size(); ++c) {
      if (bias != tensors.end()) y[c] = bias->second.values[c];
      for (int64_t w = 0; w < W; ++w) {
        const int64_t t = T - W + w;
        if (t >= 0) y[c] += double{weight.values[c * W + w]} * inputs[t][c];
      }
    }
    return y;
  }
};

inline Row Sum(Row a, const Row& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// A mamba of width 9: 27 channels with 5 states, time steps of rank 3.
inline TestModel TestMamba(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", "mamba"},     {"hidden_size", 9},
            {"num_hidden_layers", 2},    {"expand", 3},
            {"state_size", 5},           {"time_step_rank", 3},
            {"conv_kernel", 3},          {"use_bias", false},
            {"use_conv_bias", true},     {"vocab_size", 7},
            {"allow_neg_eigval", false}, {"layer_norm_epsilon", 1e-4},
            {"use_final_norm", true},    {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t D = config["hidden_size"], I = config["expand"].get<int64_t>() * D, N = config["state_size"];
  const int64_t W = config["conv_kernel"], vocab = config["vocab_size"];
  const int64_t R = config["time_step_rank"] == "auto" ? (D + 15) / 16 : config["time_step_rank"].get<int64_t>();
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("backbone.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "backbone.layers." + std::to_string(i) + ".";
    model.Add(layer + "norm.weight", {D}, 0.2, 1);
    model.Add(layer + "mixer.in_proj.weight", {2 * I, D}, scale);
    model.Add(layer + "mixer.conv1d.weight", {I, 1, W}, 0.6);
    if (config["use_conv_bias"]) model.Add(layer + "mixer.conv1d.bias", {I}, 0.3);
    model.Add(layer + "mixer.x_proj.weight", {R + 2 * N, I}, scale);
    model.Add(layer + "mixer.dt_proj.weight", {I, R}, 0.5);
    model.Add(layer + "mixer.dt_proj.bias", {I}, 0.5, -1);
    model.Add(layer + "mixer.A_log", {I, N}, 0.5, 0.5);
    model.Add(layer + "mixer.D", {I}, 0.3, 1);
    model.Add(layer + "mixer.out_proj.weight", {D, I}, scale / 2);
    if (config["use_bias"]) {
      model.Add(layer + "mixer.in_proj.bias", {2 * I}, 0.3);
      model.Add(layer + "mixer.out_proj.bias", {D}, 0.3);
    }
  }
  if (config["use_final_norm"]) model.Add("backbone.norm_f.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  return model;
}

}  // namespace lrnn
