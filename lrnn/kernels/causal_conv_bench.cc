// Tokens per second of the causal convolution with bias and SiLU and of its backward pass, next to a plain loop.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/causal_conv.h"

namespace lrnn::kernels {
namespace {

std::vector<float> Normals(int64_t n) {
  Rng rng(1, n);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(rng.Normal());
  return values;
}

struct Problem {
  // Sequences of `length` tokens.
  Problem(int64_t T, int64_t D, int64_t W, int64_t length)
      : x(Normals(T * D)), weight(Normals(D * W)), bias(Normals(D)), y(T * D), dx(T * D), dweight(D * W), dbias(D) {
    for (int64_t t = 0; t <= T; t += length) cu_seqlens.push_back(static_cast<int32_t>(t));
    input = {.cu_seqlens = cu_seqlens.data(),
             .S = static_cast<int64_t>(cu_seqlens.size()) - 1,
             .D = D,
             .W = W,
             .x = x.data(),
             .x_stride = D,
             .weight = weight.data(),
             .bias = bias.data()};
  }
  std::vector<float> x, weight, bias, y, dx, dweight, dbias;
  std::vector<int32_t> cu_seqlens;
  CausalConvInput<float> input;
};

void Fused(benchmark::State& state) {
  Problem p(state.range(0), state.range(1), state.range(2), state.range(3));
  for (auto _ : state) {
    CausalConv(p.input, p.y.data(), nullptr, static_cast<int>(state.range(4)));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void FusedBackward(benchmark::State& state) {
  Problem p(state.range(0), state.range(1), state.range(2), state.range(3));
  const auto dy = Normals(p.x.size());
  for (auto _ : state) {
    CausalConvBackward(p.input, dy.data(), state.range(1), nullptr,
                       {.dx = p.dx.data(), .dweight = p.dweight.data(), .dbias = p.dbias.data()},
                       static_cast<int>(state.range(4)));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// One sequence only.
void Loop(benchmark::State& state) {
  const int64_t T = state.range(0), D = state.range(1), W = state.range(2);
  Problem p(T, D, W, T);
  for (auto _ : state) {
    for (int64_t t = 0; t < T; ++t) {
      for (int64_t d = 0; d < D; ++d) {
        float sum = p.bias[d];
        for (int64_t w = t < W - 1 ? W - 1 - t : 0; w < W; ++w)
          sum += p.weight[d * W + w] * p.x[(t - W + 1 + w) * D + d];
        p.y[t * D + d] = sum / (1 + std::exp(-sum));
      }
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * T);
}

const std::vector<std::string> kNames = {"T", "D", "W", "length", "threads"};

void Sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames(kNames);
  for (int threads : {1, 2}) {
    b->Args({8192, 128, 4, 8192, threads});
    b->Args({8192, 128, 4, 16, threads});
    b->Args({8192, 256, 1, 8192, threads});
    b->Args({8192, 2048, 4, 1024, threads});
  }
  b->Args({1, 1024, 4, 1, 1});  // one step of a stream
  b->UseRealTime();
}

BENCHMARK(Fused)->Name("CausalConv/fused")->Apply(Sizes);
BENCHMARK(FusedBackward)->Name("CausalConvBackward/fused")->Apply(Sizes);
BENCHMARK(Loop)->Name("CausalConv/loop")->ArgNames({"T", "D", "W"})->Args({8192, 128, 4})->Args({8192, 256, 1});

}  // namespace
}  // namespace lrnn::kernels
