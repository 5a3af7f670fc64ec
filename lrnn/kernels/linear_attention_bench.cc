// Tokens a second of linear attention with decay: many short sequences (a training batch) and one long one, one decay a
// head (Mamba-2, mLSTM) and one a channel (GLA), forward and with backward, in all forms and beside a scalar loop.
// GFLOP/s count 4 K V (forward) and 14 K V (forward and backward) a token and head: the products
// with the state alone.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "lrnn/base/hardware.h"
#include "lrnn/base/rng.h"
#include "lrnn/kernels/linear_attention.h"

namespace lrnn::kernels {
namespace {

struct Size {
  int64_t sequences, length, heads, K, V;
};

struct Problem {
  Problem(const Size& size, bool per_channel, LinearAttentionForm form, double lowest)
      : T(size.sequences * size.length), H(size.heads), K(size.K), V(size.V), per_channel(per_channel), form(form) {
    for (int64_t i = 0; i <= size.sequences; ++i) cu_seqlens.push_back(static_cast<int32_t>(i * size.length));
    Rng rng(1, 0);
    const auto fill = [&](int64_t count, double low, double high) {
      std::vector<float> x(count);
      for (int64_t i = 0; i < count; ++i) x[i] = i < 10007 ? static_cast<float>(rng.Uniform(low, high)) : x[i - 10007];
      return x;
    };
    q = fill(T * H * K, -1, 1), k = fill(T * H * K, -1, 1), v = fill(T * H * V, -1, 1);
    decay = fill(T * H * (per_channel ? K : 1), lowest, 1);
    o.resize(v.size()), d_o = fill(v.size(), -1, 1);
    d_q.resize(q.size()), d_k.resize(k.size()), d_v.resize(v.size()), d_decay.resize(decay.size());
    states.resize(LinearAttentionChunkStates(shape()) * H * K * V);
  }
  LinearAttentionShape shape() const {
    return {static_cast<int64_t>(cu_seqlens.size()) - 1, cu_seqlens.data(), H, H, K, V, per_channel, form};
  }
  LinearAttentionInputs<float> in() const { return {q.data(), k.data(), v.data(), decay.data(), nullptr, 0.1f}; }

  int64_t T, H, K, V;
  bool per_channel;
  LinearAttentionForm form;
  std::vector<int32_t> cu_seqlens;
  std::vector<float> q, k, v, decay, o, d_o, states, d_q, d_k, d_v, d_decay;
};

void Report(benchmark::State& state, const Problem& p, double flops) {
  state.SetItemsProcessed(state.iterations() * p.T);
  state.counters["GFLOP/s"] = benchmark::Counter(
      flops * static_cast<double>(p.K * p.V * p.H * p.T * state.iterations()) * 1e-9, benchmark::Counter::kIsRate);
}

void Forward(benchmark::State& state, Problem& p) {
  for (auto _ : state) {
    LinearAttentionForward(p.shape(), p.in(), p.o.data(), nullptr, static_cast<float*>(nullptr), CpuCount());
  }
  Report(state, p, 4);
}

void ForwardBackward(benchmark::State& state, Problem& p) {
  for (auto _ : state) {
    LinearAttentionForward(p.shape(), p.in(), p.o.data(), nullptr, p.states.data(), CpuCount());
    LinearAttentionBackward(p.shape(), p.in(), p.states.data(), p.d_o.data(), nullptr,
                            {p.d_q.data(), p.d_k.data(), p.d_v.data(), p.d_decay.data(), nullptr}, CpuCount());
  }
  Report(state, p, 14);
}

// One head after the other, one thread, as the equations stand.
void Reference(benchmark::State& state, Problem& p) {
  std::vector<float> S(p.K * p.V);
  for (auto _ : state) {
    for (int64_t h = 0; h < p.H; ++h) {
      for (int64_t t = 0; t < p.T; ++t) {
        if (t % p.cu_seqlens[1] == 0) std::fill(S.begin(), S.end(), 0.0f);
        const float* v = &p.v[(t * p.H + h) * p.V];
        float* o = &p.o[(t * p.H + h) * p.V];
        std::fill_n(o, p.V, 0.0f);
        for (int64_t i = 0; i < p.K; ++i) {
          const int64_t key = (t * p.H + h) * p.K + i;
          const float a = p.decay[p.per_channel ? key : t * p.H + h];
          for (int64_t c = 0; c < p.V; ++c) {
            S[i * p.V + c] = a * S[i * p.V + c] + p.k[key] * v[c];
            o[c] += 0.1f * p.q[key] * S[i * p.V + c];
          }
        }
      }
    }
    benchmark::DoNotOptimize(p.o.data());
  }
  Report(state, p, 4);
}

const int registered = [] {
  const std::pair<const char*, Size> sizes[] = {{"N:256/T:20/H:4/K:32/V:32", {256, 20, 4, 32, 32}},
                                                {"N:1/T:2048/H:8/K:32/V:32", {1, 2048, 8, 32, 32}},
                                                {"N:1/T:2048/H:8/K:128/V:64", {1, 2048, 8, 128, 64}},
                                                {"N:1/T:1024/H:4/K:128/V:256", {1, 1024, 4, 128, 256}}};
  struct Form {
    const char* name;
    LinearAttentionForm form;
    double lowest;
  };
  const Form forms[] = {{"auto", LinearAttentionForm::kAuto, -1},
                        {"auto[0,1]", LinearAttentionForm::kAuto, 0},
                        {"recurrent", LinearAttentionForm::kRecurrent, -1},
                        {"chunked", LinearAttentionForm::kChunked, -1},
                        {"signed_log", LinearAttentionForm::kSignedLog, -1},
                        {"log[0,1]", LinearAttentionForm::kPositiveLog, 0}};
  for (const auto& [text, size] : sizes) {
    for (bool per_channel : {false, true}) {
      const auto add = [&, size = size](const std::string& kind, const char* pass,
                                        void (*run)(benchmark::State&, Problem&), LinearAttentionForm form,
                                        double lowest) {
        const std::string name = "LinearAttention/" + kind + (per_channel ? "/channel/" : "/head/") + text + pass;
        const auto body = [=](benchmark::State& state) {
          Problem problem(size, per_channel, form, lowest);
          run(state, problem);
        };
        benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMillisecond);
      };
      add("reference", "", Reference, LinearAttentionForm::kChunked, -1);
      for (const Form& form : forms) {
        add(form.name, "", Forward, form.form, form.lowest);
        add(form.name, "/backward", ForwardBackward, form.form, form.lowest);
      }
    }
  }
  return 0;
}();

}  // namespace
}  // namespace lrnn::kernels
