// Tokens per second of causal softmax attention, forward and backward: T tokens in sequences of `length`, H heads of
// width K.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/attention.h"

namespace lrnn::kernels {
namespace {

constexpr int64_t kHeads = 4;

std::vector<float> Normals(int64_t n) {
  Rng rng(1, n);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(rng.Normal());
  return values;
}

struct Problem {
  Problem(int64_t T, int64_t K, int64_t length)
      : q(Normals(T * kHeads * K)),
        k(Normals(T * kHeads * K + 1)),
        v(Normals(T * kHeads * K + 2)),
        o(T * kHeads * K),
        log_sums(T * kHeads) {
    for (int64_t t = 0; t <= T; t += length) cu_seqlens.push_back(static_cast<int32_t>(t));
    shape = {static_cast<int64_t>(cu_seqlens.size()) - 1, cu_seqlens.data(), cu_seqlens.data(), kHeads, K, K};
    in = {q.data(), kHeads * K, k.data(), kHeads * K, v.data(), kHeads * K, 1 / std::sqrt(static_cast<float>(K))};
  }

  std::vector<float> q, k, v, o, log_sums;
  std::vector<int32_t> cu_seqlens;
  AttentionShape shape;
  AttentionInputs<float> in;
};

// Multiply-adds of the visible half of the scores count, times `products` of T x T x K.
void Report(benchmark::State& state, double products) {
  const double T = static_cast<double>(state.range(0)), K = static_cast<double>(state.range(1));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["flops"] = benchmark::Counter(
      products * T * static_cast<double>(state.range(2)) * K * kHeads * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

void Forward(benchmark::State& state) {
  Problem p(state.range(0), state.range(1), state.range(2));
  for (auto _ : state) {
    Attention(p.shape, p.in, p.o.data(), p.log_sums.data(), static_cast<int>(state.range(3)));
    benchmark::ClobberMemory();
  }
  Report(state, 2);
}

void Backward(benchmark::State& state) {
  Problem p(state.range(0), state.range(1), state.range(2));
  Attention(p.shape, p.in, p.o.data(), p.log_sums.data(), 1);
  const std::vector<float> d_o = Normals(static_cast<int64_t>(p.o.size()));
  std::vector<float> d_q(p.o.size()), d_k(p.o.size()), d_v(p.o.size());
  for (auto _ : state) {
    AttentionBackward(p.shape, p.in, p.o.data(), p.log_sums.data(), d_o.data(), {d_q.data(), d_k.data(), d_v.data()},
                      static_cast<int>(state.range(3)));
    benchmark::ClobberMemory();
  }
  Report(state, 5);
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"T", "K", "length", "threads"});
  for (int64_t length : {32, 256, 2048}) {
    for (int64_t K : {32, 64}) bench->Args({2048, K, length, 1});
  }
}

BENCHMARK(Forward)->Name("Attention/fused")->Apply(Sizes);
BENCHMARK(Backward)->Name("AttentionBackward/fused")->Apply(Sizes);

}  // namespace
}  // namespace lrnn::kernels
