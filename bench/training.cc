// A whole training step: forward, backward and AdamW of two blocks of width 128 on a parity batch.
#include <torch/torch.h>

#include "bench/benchmarks.h"
#include "lrnn/models/model.h"
#include "lrnn/ops/sequences.h"
#include "lrnn/tasks/batch.h"
#include "lrnn/train/adamw.h"
#include "lrnn/train/config.h"

namespace lrnn::bench {
namespace {

constexpr int64_t kSequences = 1024;

std::string Config(const std::string& layer, const std::string& range) {
  return fmt::format(
      "[task]\nname = \"parity\"\ntrain_lengths = [3, 40]\neval_lengths = [40, 256]\n"
      "[model]\nlayer = \"{}\"\neigenvalues = \"{}\"\nhidden_size = 128\nnum_hidden_layers = 2\n"
      "[train]\nsteps = 1\nbatch_size = {}\nlearning_rate = 1e-4\n",
      layer, range, kSequences);
}

struct Step {
  Duration time;
  double tokens = 0;
  double gemm_flops = 0;  // of the linear layers: 2 a weight and token forward, 4 backward
};

Step RunStep(const std::string& layer, const std::string& range, int threads) {
  const TrainConfig config = ParseTrainConfig(Config(layer, range), "benchmark");
  Model model(Fields(config.model, "benchmark"), 1);
  AdamW optimizer(*model, model->WithoutWeightDecay(),
                  {.lr = 0, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1});
  const Batch batch = MakeBatch(*config.task, {3, 40}, 1, 0, kSequences, threads);
  const torch::Tensor tokens = torch::tensor(batch.tokens, torch::kInt64);
  const torch::Tensor rows = torch::tensor(batch.rows, torch::kInt64);
  const torch::Tensor targets = torch::tensor(batch.targets, torch::kInt64);
  const ops::Sequences sequences(batch.cu_seqlens);
  int64_t step = 0;
  const Duration time = Measure([&] {
    const torch::Tensor loss = torch::nn::functional::cross_entropy(model->forward(tokens, sequences, rows), targets);
    loss.backward();
    optimizer.Step(++step, 1e-4, threads);
  });
  double weights = 0;
  for (const auto& parameter : model->named_parameters()) {
    const bool linear = parameter.key().find("proj") != std::string::npos && parameter.value().dim() == 2;
    if (linear) weights += static_cast<double>(parameter.value().numel());
  }
  const auto tokens_count = static_cast<double>(batch.tokens.size());
  return {time, tokens_count, 6 * weights * tokens_count};
}

}  // namespace

void BenchTraining(Table& table, const Limits& limits) {
  table.Section("Training step, two blocks of width 128, parity, 1,024 sequences of 3 to 40 tokens");
  for (const std::string layer : {"delta_net", "mamba"}) {
    const Step extended = RunStep(layer, "[-1,1]", limits.threads);
    const Step original = RunStep(layer, "[0,1]", limits.threads);
    table.Add(layer,
              fmt::format("{:.0f} ms, {:.0f}k tokens/s", extended.time.seconds * 1e3,
                          extended.tokens / extended.time.seconds * 1e-3),
              extended.time.contended);
    const double rate = extended.gemm_flops / extended.time.seconds;
    table.Add(layer + ", matrix products, share of their rate",
              fmt::format("{:.0f} to {:.0f} GFLOP/s", rate * 1e-9, limits.gemm * 1e-9), rate / limits.gemm,
              Goal::kAtLeast, 0.6, extended.time.contended);
    table.Add(layer + ", [-1,1] to [0,1]",
              fmt::format("{:.3g} ms to {:.3g} ms", extended.time.seconds * 1e3, original.time.seconds * 1e3),
              extended.time.seconds / original.time.seconds, Goal::kAtMost, 1.02,
              extended.time.contended || original.time.contended);
  }
}

}  // namespace lrnn::bench
