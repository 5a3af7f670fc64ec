// Bytes per second of RmsNorm and its backward pass, next to a plain loop. items are rows.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/rms_norm.h"

namespace lrnn::kernels {
namespace {

std::vector<float> Normals(int64_t n) {
  Rng rng(1, n);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(rng.Normal());
  return values;
}

// `arrays` of [R, D] are read or written.
void Count(benchmark::State& state, int arrays) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1) * arrays * int64_t{sizeof(float)});
}

void Fused(benchmark::State& state) {
  const int64_t R = state.range(0), D = state.range(1);
  const auto x = Normals(R * D), weight = Normals(D);
  std::vector<float> y(R * D);
  for (auto _ : state) {
    RmsNorm(x.data(), D, R, D, weight.data(), 1e-6f, y.data(), static_cast<int>(state.range(2)));
    benchmark::ClobberMemory();
  }
  Count(state, 2);
}

void FusedBackward(benchmark::State& state) {
  const int64_t R = state.range(0), D = state.range(1);
  const auto x = Normals(R * D), dy = Normals(R * D), weight = Normals(D);
  std::vector<float> dx(R * D), dweight(D);
  for (auto _ : state) {
    RmsNormBackward(x.data(), D, R, D, weight.data(), 1e-6f, dy.data(), nullptr, dx.data(), dweight.data(),
                    static_cast<int>(state.range(2)));
    benchmark::ClobberMemory();
  }
  Count(state, 3);
}

void Loop(benchmark::State& state) {
  const int64_t R = state.range(0), D = state.range(1);
  const auto x = Normals(R * D), weight = Normals(D);
  std::vector<float> y(R * D);
  for (auto _ : state) {
    for (int64_t row = 0; row < R; ++row) {
      float sum = 0;
      for (int64_t i = 0; i < D; ++i) sum += x[row * D + i] * x[row * D + i];
      const float r = 1 / std::sqrt(sum / static_cast<float>(D) + 1e-6f);
      for (int64_t i = 0; i < D; ++i) y[row * D + i] = x[row * D + i] * r * weight[i];
    }
    benchmark::ClobberMemory();
  }
  Count(state, 2);
}

void Sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"R", "D", "threads"});
  for (int threads : {1, 2}) {
    b->Args({32768, 32, threads});  // the heads of a small model
    b->Args({8192, 128, threads});
    b->Args({8192, 2048, threads});  // 64 MiB an array: from memory
  }
  b->UseRealTime();
}

BENCHMARK(Fused)->Name("RmsNorm/fused")->Apply(Sizes);
BENCHMARK(FusedBackward)->Name("RmsNormBackward/fused")->Apply(Sizes);
BENCHMARK(Loop)->Name("RmsNorm/loop")->ArgNames({"R", "D"})->Args({8192, 128});

}  // namespace
}  // namespace lrnn::kernels
