// A whole training step: forward, backward and AdamW of two blocks of width 128 on a parity batch, beside the same
// model written with torch operations alone.
#include <torch/optim/adamw.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "bench/benchmarks.h"
#include "bench/eager.h"
#include "lrnn/base/error.h"
#include "lrnn/models/model.h"
#include "lrnn/ops/cross_entropy.h"
#include "lrnn/ops/linear.h"
#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"
#include "lrnn/tasks/batch.h"
#include "lrnn/train/adamw.h"
#include "lrnn/train/config.h"

namespace lrnn::bench {
namespace {

constexpr int64_t kSequences = 1024;
// The eager model takes an eighth of them: the states of its parallel scan alone would be more than 20 GB.
constexpr int64_t kEagerSequences = 128;

std::string Config(const std::string& layer, const std::string& range) {
  return fmt::format(
      "[task]\nname = \"parity\"\ntrain_lengths = [3, 40]\neval_lengths = [40, 256]\n"
      "[model]\nlayer = \"{}\"\neigenvalues = \"{}\"\nhidden_size = 128\nnum_hidden_layers = 2\n"
      "[train]\nsteps = 1\nbatch_size = {}\nlearning_rate = 1e-4\n",
      layer, range, kSequences);
}

// A model and a batch of the parity task, packed, and padded for the eager form.
struct Problem {
  Problem(const std::string& layer, const std::string& range, int64_t sequences, int threads)
      : config(ParseTrainConfig(Config(layer, range), "benchmark")),
        model(Fields(config.model, "benchmark"), 1),
        batch(MakeBatch(*config.task, {3, 40}, 1, 0, sequences, threads)),
        threads(threads),
        tokens(torch::tensor(batch.tokens, torch::kInt64)),
        rows(torch::tensor(batch.rows, torch::kInt64)),
        targets(torch::tensor(batch.targets, torch::kInt64)),
        packed(batch.cu_seqlens) {
    lengths = torch::tensor(batch.cu_seqlens, torch::kInt64).diff();
    padded = torch::zeros({sequences, lengths.max().item<int64_t>()}, torch::kInt64);
    for (int64_t i = 0; i < sequences; ++i) {
      const int64_t begin = batch.cu_seqlens[i], length = batch.cu_seqlens[i + 1] - begin;
      padded[i].narrow(0, 0, length).copy_(tokens.narrow(0, begin, length));
    }
  }

  torch::Tensor Logits() { return model->forward(tokens, packed, rows); }
  torch::Tensor LogitsByTorch() { return EagerLogits(model, padded, lengths); }

  // A function that does the next step.
  Work Step() {
    auto optimizer = std::make_shared<AdamW>(
        *model, model->WithoutWeightDecay(),
        kernels::AdamWOptions{.lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1});
    return [this, optimizer, step = int64_t{0}]() mutable {
      ops::CrossEntropy(Logits(), targets).backward();
      optimizer->Step(++step, 1e-4, threads);
    };
  }
  Work StepByTorch() {
    auto optimizer = std::make_shared<torch::optim::AdamW>(
        model->parameters(), torch::optim::AdamWOptions(1e-4).betas({0.9, 0.99}).weight_decay(0.1));
    return [this, optimizer] {
      optimizer->zero_grad();
      torch::cross_entropy_loss(LogitsByTorch(), targets).backward();
      optimizer->step();
    };
  }

  TrainConfig config;
  Model model;
  Batch batch;
  int threads;
  torch::Tensor tokens, rows, targets, padded, lengths;
  ops::Sequences packed;
};

// The matrix products of a step alone: y = x W^T, dx and dW of every linear layer, those that the model multiplies
// together as one. The last MLP sees only the rows that have a target.
Work Products(Problem& problem) {
  const std::vector<std::vector<std::string>> groups = {{"attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.b_proj"},
                                                        {"attn.o_proj"},
                                                        {"mlp.gate_proj", "mlp.up_proj"},
                                                        {"mlp.down_proj"},
                                                        {"mixer.in_proj"},
                                                        {"mixer.x_proj"},
                                                        {"mixer.dt_proj"},
                                                        {"mixer.out_proj"}};
  struct Product {
    torch::Tensor x, weight, dy;
  };
  std::vector<Product> products;
  const auto parameters = problem.model->named_parameters();
  const std::string root = parameters.contains("backbone.embeddings.weight") ? "backbone" : "model";
  for (int layer = 0; layer < 2; ++layer) {
    for (const auto& group : groups) {
      std::vector<torch::Tensor> weights;
      for (const std::string& name : group) {
        const torch::Tensor* weight = parameters.find(fmt::format("{}.layers.{}.{}.weight", root, layer, name));
        if (weight != nullptr) weights.push_back(weight->detach());
      }
      if (weights.empty()) continue;
      const torch::Tensor weight = torch::cat(weights).requires_grad_();
      const bool few = layer == 1 && group[0].starts_with("mlp");
      const int64_t rows = (few ? problem.rows : problem.tokens).size(0);
      products.push_back(
          {torch::randn({rows, weight.size(1)}).requires_grad_(), weight, torch::randn({rows, weight.size(0)})});
    }
  }
  return [products] {
    for (const Product& p : products) torch::autograd::grad({ops::Linear(p.x, p.weight)}, {p.x, p.weight}, {p.dy});
  };
}

// The eager model must be the same function, or the comparison means nothing.
void CheckSameLogits(Problem& problem) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor expected = problem.LogitsByTorch();
  const double difference = (problem.Logits() - expected).abs().max().item<double>();
  LRNN_CHECK(difference < 1e-3 * std::max(1.0, expected.abs().max().item<double>()),
             "[bench] the eager model differs by {}", difference);
}

// From /proc/self/status, in bytes: "VmRSS" now, "VmHWM" the most so far.
double StatusBytes(const std::string& key) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/status", "r"), &std::fclose);
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (std::string(line).starts_with(key + ":")) return 1024 * std::atof(line + key.size() + 1);
  }
  return 0;
}

// PeakMemoryOfAStep in a process of its own, where nothing has touched memory before; 0 if it cannot be had.
double PeakMemory(const std::string& layer, bool eager, int threads) {
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return 0;
  const std::string command =
      fmt::format("'{}' --threads {} --peak-memory {}{}", self, threads, layer, eager ? " --eager" : "");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  double bytes = 0;
  return pipe && std::fscanf(pipe.get(), "%lf", &bytes) == 1 ? bytes : 0;
}

}  // namespace

double PeakMemoryOfAStep(const std::string& layer, bool eager, int threads) {
  Problem problem(layer, "[-1,1]", kEagerSequences, threads);
  const double before = StatusBytes("VmRSS");
  const auto step = eager ? problem.StepByTorch() : problem.Step();
  for (int i = 0; i < 2; ++i) step();
  return StatusBytes("VmHWM") - before;
}

void BenchTraining(Table& table, const Limits& limits) {
  table.Section("Training step, two blocks of width 128, parity, 1,024 sequences of 3 to 40 tokens");
  for (const auto& [layer, eager_goal] : {std::pair<std::string, double>{"delta_net", 4}, {"mamba", 10}}) {
    Problem extended(layer, "[-1,1]", kSequences, limits.threads), original(layer, "[0,1]", kSequences, limits.threads);
    const Ratio ranges = MeasureRatio(extended.Step(), original.Step());
    const double rate = static_cast<double>(extended.batch.tokens.size()) / ranges.of.seconds;
    table.Add(layer, fmt::format("{:.0f} ms, {:.0f}k tokens/s", ranges.of.seconds * 1e3, rate * 1e-3),
              ranges.contended());
    table.Add(layer + ", [-1,1] to [0,1]", ranges, Goal::kAtMost, 1.02);
    table.Add(layer + ", its matrix products alone, share of the step",
              MeasureRatio(Products(extended), extended.Step()), Goal::kAtLeast, 0.6);

    const Work fp32 = extended.Step(), bf16 = extended.Step();
    table.Add(layer + ", fp32 to bf16 products",
              MeasureRatio(fp32,
                           [&] {
                             const ops::RoundLinearToBf16 rounding(true);
                             bf16();
                           }),
              Goal::kAtLeast, 1.4);

    Problem few(layer, "[-1,1]", kEagerSequences, limits.threads);
    CheckSameLogits(few);
    // In turns with the whole batch, of which the eager model has a part: tokens a second are compared.
    Ratio eager = MeasureRatio(few.StepByTorch(), extended.Step());
    eager.ratio *= static_cast<double>(extended.batch.tokens.size()) / static_cast<double>(few.batch.tokens.size());
    table.Add(layer + ", useful tokens a second, to an eager model's", eager, Goal::kAtLeast, eager_goal);
    const double bytes = PeakMemory(layer, false, limits.threads),
                 eager_bytes = PeakMemory(layer, true, limits.threads);
    if (bytes > 0 && eager_bytes > 0) {
      table.Add(layer + ", peak memory of 128 sequences, to an eager model's",
                fmt::format("{:.0f} MB to {:.0f} MB", bytes * 1e-6, eager_bytes * 1e-6), bytes / eager_bytes,
                Goal::kAtMost, 1.0 / 3, false);
    }
  }
}

}  // namespace lrnn::bench
