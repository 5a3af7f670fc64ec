// The kernels against the machine's limits, the extended range against the original one, and time per token by length.
#include <algorithm>

#include "bench/benchmarks.h"
#include "bench/forward_and_backward.h"
#include "bench/lengths.h"
#include "lrnn/ops/delta_rule.h"
#include "lrnn/ops/selective_scan.h"
#include "lrnn/ops/torch.h"

namespace lrnn::bench {
namespace {

using torch::Tensor;

struct Batch {
  int64_t sequences, length;
  int64_t tokens() const { return sequences * length; }
  ops::Sequences Packed() const { return EqualSequences(sequences, length); }
};

struct DeltaRuleProblem {
  Batch batch;
  int64_t heads, width, householders = 1;
  bool gate = false, backward = false;
  double beta = 2;  // up to
  bool eager = false;

  double Steps() const { return static_cast<double>(batch.tokens() * heads * householders); }

  Work Run() const {
    torch::manual_seed(1);
    const int64_t T = batch.tokens(), H = heads, K = width, n = householders;
    const Tensor q = torch::randn({T, H, K}), v = torch::randn({T, n, H, K});
    const Tensor keys = torch::randn({T, n, H, K}), k = keys / keys.norm(2, -1, /*keepdim=*/true);
    const Tensor b = torch::rand({T, n, H}) * beta, decay = torch::rand({T, H}) * 0.1 + 0.9;
    std::vector<Tensor> inputs = {q, k, v, b};
    if (gate) inputs.push_back(decay);
    const auto form = eager ? ops::DeltaRuleAten : ops::DeltaRule;
    return ForwardAndBackward(inputs, backward, [=, gate = gate, packed = batch.Packed()] {
      const c10::optional<Tensor> gates = gate ? c10::make_optional(decay) : c10::nullopt;
      return form(q, k, v, b, gates, {.scale = 0.1}, packed, c10::nullopt).o;
    });
  }
};

struct ScanProblem {
  Batch batch;
  int64_t channels;
  bool backward = false, extended = false, eager = false;

  double Exps() const { return static_cast<double>(batch.tokens() * channels * 16); }

  Work Run() const {
    torch::manual_seed(1);
    const int64_t T = batch.tokens();
    const Tensor u = torch::randn({T, channels}), delta = torch::randn({T, channels}) - 3;
    const Tensor A = -torch::rand({channels, 16}) * 16, B = torch::randn({T, 16}), C = torch::randn({T, 16});
    const Tensor D = torch::ones({channels});
    const auto form = eager ? ops::SelectiveScanAten : ops::SelectiveScan;
    return ForwardAndBackward({u, delta, A, B, C, D}, backward, [=, extended = extended, packed = batch.Packed()] {
      return form(u, delta, A, B, C, D, c10::nullopt, c10::nullopt,
                  {.delta_softplus = true, .allow_neg_eigval = extended}, packed, c10::nullopt)
          .y;
    });
  }
};

// A row; without a goal if that is 0.
void AddShare(Table& table, const std::string& name, int64_t tokens, const Share& share, double goal) {
  const std::string speed = fmt::format("{:.3g} ms, {:.0f}k tokens/s", share.time.seconds * 1e3,
                                        static_cast<double>(tokens) / share.time.seconds * 1e-3);
  goal > 0 ? table.Add(name, speed, share.share, Goal::kAtLeast, goal, share.time.contended)
           : table.Add(name, fmt::format("{}, {:.3g}", speed, share.share), share.time.contended);
}

void AddDeltaRule(Table& table, const std::string& name, const DeltaRuleProblem& problem, const Limits& limits,
                  double goal) {
  const double flops = (problem.backward ? 22 : 6) * static_cast<double>(problem.width * problem.width);
  AddShare(table, name, problem.batch.tokens(), MeasureShare(problem.Run(), {{flops * problem.Steps(), &limits.fma}}),
           goal);
}

void AddScan(Table& table, const std::string& name, const ScanProblem& problem, const Limits& limits, double goal) {
  AddShare(table, name, problem.batch.tokens(), MeasureShare(problem.Run(), {{problem.Exps(), &limits.exp}}), goal);
}

// Sequences of growing length, each against the shortest, which stands for as many tokens.
void AddTimePerToken(Table& table, DeltaRuleProblem problem) {
  problem.batch = {1, 256};
  const Work shortest = problem.Run();
  double fastest = 1, slowest = 1;
  bool contended = false;
  for (const int64_t length : {4096, 65536, 262144}) {
    problem.batch = {1, length};
    const int64_t times = length / 256;
    const Ratio ratio = MeasureRatio(problem.Run(), [&] {
      for (int64_t i = 0; i < times; ++i) shortest();
    });
    fastest = std::min(fastest, ratio.ratio), slowest = std::max(slowest, ratio.ratio);
    contended |= ratio.contended();
  }
  table.Add("time per token of one sequence, 256 to 262,144 tokens",
            fmt::format("{:.3g} to {:.3g} times that of 256", fastest, slowest), slowest / fastest, Goal::kAtMost, 1.1,
            contended);
}

}  // namespace

void BenchDeltaRule(Table& table, const Limits& limits) {
  table.Section("Delta rule: share of the FMA peak, 6 K V flops a step and head forward, 22 K V with backward");
  const DeltaRuleProblem narrow{.batch = {8, 256}, .heads = 4, .width = 32};
  const DeltaRuleProblem wide{.batch = {1, 2048}, .heads = 8, .width = 128};
  const auto with = [](DeltaRuleProblem problem, auto change) {
    change(problem);
    return problem;
  };
  const auto back = [&](const DeltaRuleProblem& problem) {
    return with(problem, [](DeltaRuleProblem& p) { p.backward = true; });
  };
  const DeltaRuleProblem large = with(narrow, [](auto& p) { p.batch.sequences = 32; });
  AddDeltaRule(table, "forward, 4 heads of 32", narrow, limits, 0.85);
  AddDeltaRule(table, "forward, 8 heads of 128", wide, limits, 0.75);
  AddDeltaRule(table, "forward and backward, 4 heads of 32", back(narrow), limits, 0.55);
  AddDeltaRule(table, "forward and backward, 8 heads of 128", back(wide), limits, 0.55);
  AddDeltaRule(table, "forward, 4 heads of 32, four times the tokens: from memory", large, limits, 0);
  AddDeltaRule(table, "forward and backward, the same", back(large), limits, 0);
  const Work plain = back(narrow).Run();
  Ratio four = MeasureRatio(back(with(narrow, [](auto& p) { p.householders = 4; })).Run(), plain);
  four.ratio /= 4;
  table.Add("four Householder steps, per step, to one", four, Goal::kAtMost, 1.1);
  table.Add("with a gate, to without", MeasureRatio(back(with(narrow, [](auto& p) { p.gate = true; })).Run(), plain),
            Goal::kAtMost, 1.1);
  table.Add("beta up to 2, to beta up to 1", MeasureRatio(plain, back(with(narrow, [](auto& p) { p.beta = 1; })).Run()),
            Goal::kAtMost, 1.02);
  table.Add("ATen form, to the kernel, 4 heads of 32",
            MeasureRatio(back(with(narrow, [](auto& p) { p.eager = true; })).Run(), plain), Goal::kAtLeast, 15);
  table.Add("ATen form, to the kernel, 8 heads of 128",
            MeasureRatio(back(with(wide, [](auto& p) { p.eager = true; })).Run(), back(wide).Run()), Goal::kAtLeast, 7);
  AddTimePerToken(table, back(narrow));
}

void BenchSelectiveScan(Table& table, const Limits& limits) {
  table.Section("Selective scan: share of the exp limit, one exp a channel, state and token");
  const ScanProblem narrow{.batch = {8, 256}, .channels = 256}, wide{.batch = {1, 2048}, .channels = 1536};
  const auto with = [](ScanProblem problem, bool backward, bool extended, bool eager) {
    problem.backward = backward, problem.extended = extended, problem.eager = eager;
    return problem;
  };
  AddScan(table, "forward, 256 channels", narrow, limits, 0.7);
  AddScan(table, "forward, 1,536 channels", wide, limits, 0.7);
  AddScan(table, "forward and backward, 256 channels", with(narrow, true, false, false), limits, 0.2);
  AddScan(table, "forward and backward, 1,536 channels", with(wide, true, false, false), limits, 0.2);
  table.Add("[-1,1] to [0,1], forward", MeasureRatio(with(narrow, false, true, false).Run(), narrow.Run()),
            Goal::kAtMost, 1.02);
  table.Add("[-1,1] to [0,1], forward and backward",
            MeasureRatio(with(narrow, true, true, false).Run(), with(narrow, true, false, false).Run()), Goal::kAtMost,
            1.02);
  table.Add("ATen form, to the kernel, 256 channels",
            MeasureRatio(with(narrow, true, false, true).Run(), with(narrow, true, false, false).Run()), Goal::kAtLeast,
            25);
}

}  // namespace lrnn::bench
