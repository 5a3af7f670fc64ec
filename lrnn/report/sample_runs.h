// For tests and for looking at the page: run directories as training writes them, with made-up but plausible results.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/base/wilson.h"

namespace lrnn {

struct SampleRun {
  std::string layer = "delta_net";
  bool is_extended = true;  // eigenvalues [-1,1], else [0,1]
  std::string title = "DeltaNet on parity";
  std::string state = "complete";
  int seed = 1;
  bool has_metrics = true;
  bool has_eval = true;
  bool has_spectrum = true;
};

inline void WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
}

inline std::string SampleConfig(const SampleRun& run) {
  const bool is_delta = run.layer == "delta_net";
  return fmt::format(
      "[run]\ntitle = {}\n\n[task]\nname = \"parity\"\ntrain_lengths = [3, 40]\n\n"
      "[model]\nlayer = \"{}\"\neigenvalues = \"{}\"\nhidden_size = 128\nnum_hidden_layers = 2\n\n"
      "[train]\nsteps = 600\nbatch_size = 256\nlearning_rate = 1e-3\nseed = {}\n\n"
      "[reference]\nsource = \"Table 3 of the paper (best of 3 seeds)\"\nscaled_accuracy = {:.3f}\n",
      nlohmann::json(run.title).dump(), run.layer, run.is_extended ? "[-1,1]" : "[0,1]", run.seed,
      run.is_extended ? 1.0 : (is_delta ? 0.017 : 0.0));
}

// How probable a right answer is at a length: with [0,1] it falls to guessing just after the training lengths.
inline double SampleSkill(const SampleRun& run, int64_t length) {
  if (run.is_extended) return 1.0;
  const double start = run.layer == "delta_net" ? 0.3 : 0.01;
  return 0.5 + start * std::exp(-static_cast<double>(length - 40) / 9.0);
}

inline nlohmann::json SampleScore(int64_t correct, int64_t sequences) {
  const Interval interval = WilsonInterval(correct, sequences);
  const double accuracy = static_cast<double>(correct) / static_cast<double>(sequences);
  return {{"accuracy", accuracy},
          {"scaled_accuracy", ScaledAccuracy(accuracy, 0.5)},
          {"low", ScaledAccuracy(interval.low, 0.5)},
          {"high", ScaledAccuracy(interval.high, 0.5)},
          {"sequences", sequences}};
}

inline nlohmann::json SampleEvaluation(const SampleRun& run, int64_t low, int64_t high, int64_t sequences, Rng& rng) {
  std::vector<int64_t> all(high - low + 1, 0), right(high - low + 1, 0);
  int64_t correct = 0, tokens = 0;
  for (int64_t i = 0; i < sequences; ++i) {
    const int64_t length = rng.Between(low, high);
    const bool is_right = rng.Uniform() < SampleSkill(run, length);
    ++all[length - low];
    right[length - low] += is_right;
    correct += is_right;
    tokens += length;
  }
  nlohmann::json evaluation = SampleScore(correct, sequences);
  evaluation["lengths"] = {low, high};
  evaluation["seed"] = 1;
  evaluation["streamed"] = low == high;
  evaluation["tokens"] = tokens;
  evaluation["seconds"] = static_cast<double>(tokens) / (low == high ? 61000.0 : 123000.0);
  for (int64_t i = 0; i <= high - low; ++i) {
    evaluation["by_length"].push_back({{"length", low + i}, {"sequences", all[i]}, {"correct", right[i]}});
  }
  return evaluation;
}

inline std::string SampleMetrics(const SampleRun& run, Rng& rng) {
  const bool is_delta = run.layer == "delta_net";
  const double middle = is_delta ? 190 : 330;
  std::string lines;
  for (int step = 20; step <= 600; step += 20) {
    const double learned = 1 / (1 + std::exp(-(step - middle) / 22.0));
    const double fitted = run.is_extended ? learned : (is_delta ? 0.55 * learned : 0.03 * learned);
    const double loss = std::max(0.001, 0.693 * (1 - fitted) * (1 + 0.02 * rng.Normal()));
    const nlohmann::json train = {{"kind", "train"},
                                  {"step", step},
                                  {"loss", loss},
                                  {"accuracy", 0.5 + 0.5 * fitted},
                                  {"learning_rate", 1e-3},
                                  {"tokens_per_second", 81234.5},
                                  {"seconds", step * 0.0677}};
    lines += train.dump() + "\n";
    if (step % 100 != 0) continue;
    const double skill = run.is_extended ? 0.5 + 0.5 * learned : SampleSkill(run, 100);
    int64_t correct = 0;
    for (int i = 0; i < 1024; ++i) correct += rng.Uniform() < skill;
    nlohmann::json eval = SampleScore(correct, 1024);
    eval.update({{"kind", "eval"}, {"step", step}, {"loss", loss}});
    lines += eval.dump() + "\n";
  }
  return lines;
}

inline nlohmann::json SampleSpectrum(const SampleRun& run, Rng& rng) {
  constexpr int kBins = 80;
  nlohmann::json spectrum = {{"format", "lrnn.spectrum"},
                             {"version", 1},
                             {"task", "parity"},
                             {"range", {run.is_extended ? -1 : 0, 1}},
                             {"tokens", 4096}};
  for (int layer = 0; layer < 2; ++layer) {
    std::vector<double> edges;
    for (int i = 0; i <= kBins; ++i) edges.push_back(-1 + 2.0 * i / kBins);
    std::vector<int64_t> counts(kBins, 0);
    double least = 1, most = -1;
    int64_t negative = 0;
    constexpr int kValues = 32768;
    for (int i = 0; i < kValues; ++i) {
      const double width = run.layer == "delta_net" ? 0.9 : 2.2;
      const double logit = (rng.Uniform() < 0.47 ? -3.2 : 2.6) + (layer == 0 ? width : 1.8 * width) * rng.Normal();
      const double gate = 1 / (1 + std::exp(-logit));
      const double value = run.is_extended ? 2 * gate - 1 : gate;
      ++counts[std::min(kBins - 1, static_cast<int>((value + 1) / 2 * kBins))];
      least = std::min(least, value);
      most = std::max(most, value);
      negative += value < 0;
    }
    spectrum["layers"].push_back({{"layer", layer},
                                  {"edges", edges},
                                  {"counts", counts},
                                  {"min", least},
                                  {"max", most},
                                  {"share_negative", static_cast<double>(negative) / kValues}});
  }
  return spectrum;
}

inline std::filesystem::path WriteSampleRun(const std::filesystem::path& path, const SampleRun& run) {
  const bool is_delta = run.layer == "delta_net";
  Rng rng(run.seed, (is_delta ? 2 : 0) + run.is_extended);
  std::filesystem::create_directories(path);
  WriteText(path / "config.toml", SampleConfig(run));
  const nlohmann::json train = {{"format", "lrnn.train"},
                                {"version", 1},
                                {"state", run.state},
                                {"step", run.state == "complete" ? 600 : 300},
                                {"steps", 600},
                                {"tokens", 3302400},
                                {"seconds", is_delta ? 40.6 : 86.2},
                                {"parameters", is_delta ? 529856 : 232448},
                                {"model_type", run.layer},
                                {"hardware", {{"cpu", "sample data, not measured"}, {"threads", 2}}},
                                {"lrnn_version", "0.1.0"}};
  WriteText(path / "train.json", train.dump(2));
  if (run.has_metrics) WriteText(path / "metrics.jsonl", SampleMetrics(run, rng));
  if (run.has_eval) {
    const nlohmann::json eval = {
        {"format", "lrnn.eval"},
        {"version", 1},
        {"task", "parity"},
        {"chance", 0.5},
        {"evaluations", {SampleEvaluation(run, 40, 256, 8192, rng), SampleEvaluation(run, 100000, 100000, 64, rng)}}};
    WriteText(path / "eval.json", eval.dump(2));
  }
  if (run.has_spectrum) WriteText(path / "spectrum.json", SampleSpectrum(run, rng).dump(2));
  return path;
}

// DeltaNet and Mamba with both ranges, the runs behind the first claim of the paper.
inline std::vector<std::filesystem::path> WriteSampleRuns(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> runs;
  for (const std::string layer : {"mamba", "delta_net"}) {
    for (const bool is_extended : {false, true}) {
      SampleRun run;
      run.layer = layer;
      run.is_extended = is_extended;
      run.title = fmt::format("{} {} on parity", layer, is_extended ? "[-1,1]" : "[0,1]");
      runs.push_back(WriteSampleRun(directory / fmt::format("{}{}", layer, is_extended ? "_extended" : ""), run));
    }
  }
  return runs;
}

}  // namespace lrnn
