// Tokens a second of the delta rule: many short sequences (a training batch) and one long one, forward and with
// backward, beside a scalar loop. GFLOP/s count 6 K V (forward) and 22 K V (forward and backward) a token and head.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "lrnn/base/hardware.h"
#include "lrnn/base/rng.h"
#include "lrnn/kernels/delta_rule.h"

namespace lrnn::kernels {
namespace {

struct Problem {
  Problem(int64_t sequences, int64_t length, int64_t heads, int64_t width, int64_t householders, double beta_scale,
          bool has_decay)
      : T(sequences * length), H(heads), K(width), n(householders) {
    for (int64_t i = 0; i <= sequences; ++i) cu_seqlens.push_back(static_cast<int32_t>(i * length));
    Rng rng(1, 0);
    const auto fill = [&](int64_t size, double low, double high) {
      std::vector<float> x(size);
      for (float& value : x) value = static_cast<float>(rng.Uniform(low, high));
      return x;
    };
    const double unit = std::sqrt(3.0 / static_cast<double>(K));  // keys of length about 1
    q = fill(T * H * K, -1, 1), k = fill(T * n * H * K, -unit, unit), v = fill(T * n * H * K, -1, 1);
    beta = fill(T * n * H, 0, beta_scale);
    if (has_decay) decay = fill(T * H, 0.9, 1);
    o.resize(T * H * K), d_o = fill(T * H * K, -1, 1), errors.resize(v.size());
    d_q.resize(q.size()), d_k.resize(k.size()), d_v.resize(v.size()), d_beta.resize(beta.size()),
        d_decay.resize(decay.size());
    states.resize(DeltaRuleSavedStates(shape()) * H * K * K);
  }
  DeltaRuleShape shape() const { return {static_cast<int64_t>(cu_seqlens.size()) - 1, cu_seqlens.data(), H, K, K, n}; }
  DeltaRuleInputs<float> in() const {
    return {q.data(), k.data(), v.data(), beta.data(), decay.empty() ? nullptr : decay.data(), nullptr, 0.1f};
  }
  DeltaRuleSaved<float> saved() { return {errors.data(), states.data()}; }

  int64_t T, H, K, n;
  std::vector<int32_t> cu_seqlens;
  std::vector<float> q, k, v, beta, decay, o, d_o, errors, states, d_q, d_k, d_v, d_beta, d_decay;
};

void Report(benchmark::State& state, const Problem& p, double flops) {
  state.SetItemsProcessed(state.iterations() * p.T);
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * static_cast<double>(p.K * p.K * p.H * p.n * p.T * state.iterations()) * 1e-9,
                         benchmark::Counter::kIsRate);
}

void Forward(benchmark::State& state, Problem p) {
  for (auto _ : state)
    DeltaRuleForward(p.shape(), p.in(), p.o.data(), nullptr, DeltaRuleSaved<float>{nullptr, nullptr}, CpuCount());
  Report(state, p, 6);
}

void ForwardBackward(benchmark::State& state, Problem p) {
  for (auto _ : state) {
    DeltaRuleForward(p.shape(), p.in(), p.o.data(), nullptr, p.saved(), CpuCount());
    DeltaRuleBackward(p.shape(), p.in(), p.saved(), p.d_o.data(), nullptr,
                      {p.d_q.data(), p.d_k.data(), p.d_v.data(), p.d_beta.data(),
                       p.decay.empty() ? nullptr : p.d_decay.data(), nullptr},
                      CpuCount());
  }
  Report(state, p, 22);
}

// One head after the other, one thread, as the equations stand.
void Reference(benchmark::State& state, Problem p) {
  for (auto _ : state) {
    for (int64_t h = 0; h < p.H; ++h) {
      std::vector<float> S(p.K * p.K);
      for (int64_t t = 0; t < p.T; ++t) {
        if (t % p.cu_seqlens[1] == 0) S.assign(S.size(), 0);
        const float *k = &p.k[(t * p.H + h) * p.K], *v = &p.v[(t * p.H + h) * p.K], *q = &p.q[(t * p.H + h) * p.K];
        for (int64_t c = 0; c < p.K; ++c) {
          float error = v[c], read = 0;
          for (int64_t i = 0; i < p.K; ++i) error -= S[i * p.K + c] * k[i];
          for (int64_t i = 0; i < p.K; ++i) read += (S[i * p.K + c] += p.beta[t * p.H + h] * k[i] * error) * q[i];
          p.o[(t * p.H + h) * p.K + c] = read;
        }
      }
    }
    benchmark::DoNotOptimize(p.o.data());
  }
  Report(state, p, 6);
}

const int registered = [] {
  const auto add = [](const char* name, auto function, const Problem& problem) {
    benchmark::RegisterBenchmark(name, function, problem)->UseRealTime()->Unit(benchmark::kMillisecond);
  };
  const Problem batch(256, 20, 4, 32, 1, 2, false), batch_original(256, 20, 4, 32, 1, 1, false),
      wide(1, 2048, 8, 128, 1, 2, false);
  add("DeltaRule/reference/N:256/T:20/H:4/K:32", Reference, batch);
  add("DeltaRule/fused/N:256/T:20/H:4/K:32", Forward, batch);
  add("DeltaRule/fused/N:256/T:20/H:4/K:32/backward", ForwardBackward, batch);
  add("DeltaRule/fused/N:256/T:20/H:4/K:32/backward/range:[0,1]", ForwardBackward, batch_original);
  add("DeltaRule/fused/N:256/T:20/H:4/K:32/backward/n_h:4", ForwardBackward, Problem(256, 20, 4, 32, 4, 2, false));
  add("DeltaRule/fused/N:256/T:20/H:4/K:32/backward/gate", ForwardBackward, Problem(256, 20, 4, 32, 1, 2, true));
  add("DeltaRule/reference/N:1/T:2048/H:8/K:128", Reference, wide);
  add("DeltaRule/fused/N:1/T:2048/H:8/K:128", Forward, wide);
  add("DeltaRule/fused/N:1/T:2048/H:8/K:128/backward", ForwardBackward, wide);
  return 0;
}();

}  // namespace
}  // namespace lrnn::kernels
