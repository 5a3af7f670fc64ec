// The kernels against the machine's limits, the extended range against the original one, and time per token by length.
#include <algorithm>

#include "bench/benchmarks.h"
#include "bench/equal_sequences.h"
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

  Duration Run() const {
    torch::manual_seed(1);
    const int64_t T = batch.tokens(), H = heads, K = width, n = householders;
    const auto leaf = [&](Tensor x) { return x.requires_grad_(backward); };
    const Tensor q = leaf(torch::randn({T, H, K})), v = leaf(torch::randn({T, n, H, K}));
    const Tensor keys = torch::randn({T, n, H, K});
    const Tensor k = leaf(keys / keys.norm(2, -1, /*keepdim=*/true));
    const Tensor b = leaf(torch::rand({T, n, H}) * beta), decay = leaf(torch::rand({T, H}) * 0.1 + 0.9);
    const Tensor d_o = torch::randn({T, H, K});
    const ops::Sequences packed = batch.Packed();
    const auto form = eager ? ops::DeltaRuleAten : ops::DeltaRule;
    return Measure([&] {
      const c10::optional<Tensor> gates = gate ? c10::make_optional(decay) : c10::nullopt;
      const Tensor o = form(q, k, v, b, gates, {.scale = 0.1}, packed, c10::nullopt).o;
      if (backward) o.backward(d_o);
    });
  }
};

struct ScanProblem {
  Batch batch;
  int64_t channels;
  bool backward = false, extended = false, eager = false;

  double Exps() const { return static_cast<double>(batch.tokens() * channels * 16); }

  Duration Run() const {
    torch::manual_seed(1);
    const int64_t T = batch.tokens();
    const auto leaf = [&](Tensor x) { return x.requires_grad_(backward); };
    const Tensor u = leaf(torch::randn({T, channels})), delta = leaf(torch::randn({T, channels}) - 3);
    const Tensor A = leaf(-torch::rand({channels, 16}) * 16), B = leaf(torch::randn({T, 16}));
    const Tensor C = leaf(torch::randn({T, 16})), D = leaf(torch::ones({channels})), d_y = torch::randn({T, channels});
    const ops::Sequences packed = batch.Packed();
    const auto form = eager ? ops::SelectiveScanAten : ops::SelectiveScan;
    return Measure([&] {
      const Tensor y = form(u, delta, A, B, C, D, c10::nullopt, c10::nullopt,
                            {.delta_softplus = true, .allow_neg_eigval = extended}, packed, c10::nullopt)
                           .y;
      if (backward) y.backward(d_y);
    });
  }
};

void AddDeltaRule(Table& table, const std::string& name, const DeltaRuleProblem& problem, double flops, double peak,
                  double goal) {
  const Duration time = problem.Run();
  const double rate = flops * static_cast<double>(problem.width * problem.width) * problem.Steps() / time.seconds;
  table.Add(name,
            fmt::format("{:.0f} GFLOP/s, {:.0f}k tokens/s", rate * 1e-9,
                        static_cast<double>(problem.batch.tokens()) / time.seconds * 1e-3),
            rate / peak, Goal::kAtLeast, goal, time.contended);
}

void AddRatio(Table& table, const std::string& name, const Duration& of, const Duration& to, double factor, Goal goal,
              double bound) {
  table.Add(name, fmt::format("{:.3g} ms to {:.3g} ms", of.seconds * 1e3, to.seconds * 1e3),
            of.seconds / to.seconds * factor, goal, bound, of.contended || to.contended);
}

void AddScan(Table& table, const std::string& name, const ScanProblem& problem, double limit, double goal) {
  const Duration time = problem.Run();
  const double rate = problem.Exps() / time.seconds;
  table.Add(name,
            fmt::format("{:.2f} G/s, {:.0f}k tokens/s", rate * 1e-9,
                        static_cast<double>(problem.batch.tokens()) / time.seconds * 1e-3),
            rate / limit, Goal::kAtLeast, goal, time.contended);
}

}  // namespace

void BenchDeltaRule(Table& table, const Limits& limits) {
  table.Section("Delta rule: share of the FMA peak, 6 K V flops a step and head forward, 22 K V with backward");
  const DeltaRuleProblem narrow{.batch = {32, 256}, .heads = 4, .width = 32};
  const DeltaRuleProblem wide{.batch = {1, 2048}, .heads = 8, .width = 128};
  const auto with = [](DeltaRuleProblem problem, auto change) {
    change(problem);
    return problem;
  };
  const auto back = [&](const DeltaRuleProblem& problem) {
    return with(problem, [](DeltaRuleProblem& p) { p.backward = true; });
  };
  AddDeltaRule(table, "forward, 4 heads of 32", narrow, 6, limits.fma, 0.85);
  AddDeltaRule(table, "forward, 8 heads of 128", wide, 6, limits.fma, 0.75);
  AddDeltaRule(table, "forward and backward, 4 heads of 32", back(narrow), 22, limits.fma, 0.55);
  AddDeltaRule(table, "forward and backward, 8 heads of 128", back(wide), 22, limits.fma, 0.55);
  const Duration plain = back(narrow).Run();
  AddRatio(table, "four Householder steps, per step, to one",
           back(with(narrow, [](auto& p) { p.householders = 4; })).Run(), plain, 0.25, Goal::kAtMost, 1.1);
  AddRatio(table, "with a gate, to without", back(with(narrow, [](auto& p) { p.gate = true; })).Run(), plain, 1,
           Goal::kAtMost, 1.1);
  AddRatio(table, "beta up to 2, to beta up to 1", plain, back(with(narrow, [](auto& p) { p.beta = 1; })).Run(), 1,
           Goal::kAtMost, 1.02);
  AddRatio(table, "ATen form, to the kernel, 4 heads of 32", back(with(narrow, [](auto& p) { p.eager = true; })).Run(),
           plain, 1, Goal::kAtLeast, 15);
  AddRatio(table, "ATen form, to the kernel, 8 heads of 128", back(with(wide, [](auto& p) { p.eager = true; })).Run(),
           back(wide).Run(), 1, Goal::kAtLeast, 7);

  double fastest = 1e30, slowest = 0;
  bool contended = false;
  for (const int64_t length : {256, 4096, 65536, 262144}) {
    DeltaRuleProblem problem = back(narrow);
    problem.batch = {1, length};
    const Duration time = problem.Run();
    const double per_token = time.seconds / static_cast<double>(length);
    fastest = std::min(fastest, per_token), slowest = std::max(slowest, per_token);
    contended |= time.contended;
  }
  table.Add("time per token of one sequence, 256 to 262,144 tokens",
            fmt::format("{:.2f} to {:.2f} us", fastest * 1e6, slowest * 1e6), slowest / fastest, Goal::kAtMost, 1.1,
            contended);
}

void BenchSelectiveScan(Table& table, const Limits& limits) {
  table.Section("Selective scan: share of the exp limit, one exp a channel, state and token");
  const ScanProblem narrow{.batch = {64, 256}, .channels = 256}, wide{.batch = {1, 2048}, .channels = 1536};
  const auto with = [](ScanProblem problem, bool backward, bool extended, bool eager) {
    problem.backward = backward, problem.extended = extended, problem.eager = eager;
    return problem;
  };
  AddScan(table, "forward, 256 channels", narrow, limits.exp, 0.7);
  AddScan(table, "forward, 1,536 channels", wide, limits.exp, 0.7);
  AddScan(table, "forward and backward, 256 channels", with(narrow, true, false, false), limits.exp, 0.2);
  AddScan(table, "forward and backward, 1,536 channels", with(wide, true, false, false), limits.exp, 0.2);
  AddRatio(table, "[-1,1] to [0,1], forward", with(narrow, false, true, false).Run(), narrow.Run(), 1, Goal::kAtMost,
           1.02);
  AddRatio(table, "[-1,1] to [0,1], forward and backward", with(narrow, true, true, false).Run(),
           with(narrow, true, false, false).Run(), 1, Goal::kAtMost, 1.02);
  ScanProblem small = narrow;
  small.batch = {8, 256};
  AddRatio(table, "ATen form, to the kernel, 256 channels", with(small, true, false, true).Run(),
           with(small, true, false, false).Run(), 1, Goal::kAtLeast, 25);
}

}  // namespace lrnn::bench
