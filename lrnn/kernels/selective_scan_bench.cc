// Tokens per second of the selective scan, next to the recurrence as a plain loop. N = 16, with D, z, bias and
// softplus; u and z are halves of one [T, 2D] array, as in the layer. S sequences of T tokens in all; S:1024 has
// lengths 3 to 40.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/selective_scan.h"

namespace lrnn::kernels {
namespace {

constexpr int64_t kStates = 16;

struct Problem {
  explicit Problem(const benchmark::State& state) : D(state.range(1)) {
    const int64_t S = state.range(2);
    Rng lengths(1, 0);
    for (int64_t s = 0; s < S; ++s) {
      cu_seqlens.push_back(cu_seqlens.back() + (S == 1 ? state.range(0) : lengths.Between(3, 40)));
    }
    T = cu_seqlens.back();
    uz = Draw(T * 2 * D, -1, 1);
    delta = Draw(T * D, -1, 1);
    A = Draw(D * kStates, -16, -1);
    B = Draw(T * kStates, -1, 1);
    C = Draw(T * kStates, -1, 1);
    D_skip = Draw(D, 0.5, 1.5);
    bias = Draw(D, -7, -2);
    dy = Draw(T * D, -1, 1);
    block_states.resize(SelectiveScanBlockStatesSize(D, kStates, S, cu_seqlens.data()));
    for (auto* v : {&y, &du, &ddelta, &dz}) v->resize(T * D);
    for (auto* v : {&dB, &dC}) v->resize(T * kStates);
    for (auto* v : {&dD, &dbias}) v->resize(D);
    dA.resize(D * kStates);
    in.channels = D;
    in.states = kStates;
    in.sequences = S;
    in.cu_seqlens = cu_seqlens.data();
    in.u = uz.data();
    in.z = uz.data() + D;
    in.u_stride = in.z_stride = 2 * D;
    in.delta = delta.data();
    in.delta_stride = D;
    in.A = A.data();
    in.B = B.data();
    in.C = C.data();
    in.B_stride = in.C_stride = kStates;
    in.D = D_skip.data();
    in.delta_bias = bias.data();
    in.allow_neg_eigval = state.range(3) != 0;
  }

  // The first numbers are random, the others repeat them: drawing them all would take longer than the measurement.
  static std::vector<float> Draw(int64_t size, double low, double high) {
    constexpr int64_t kPeriod = 9973;
    Rng rng(2, size);
    std::vector<float> values(size);
    for (int64_t i = 0; i < size; ++i) {
      values[i] = i < kPeriod ? static_cast<float>(rng.Uniform(low, high)) : values[i - kPeriod];
    }
    return values;
  }

  void Forward(int threads, bool save) {
    SelectiveScanOutputs<float> out;
    out.y = y.data();
    out.y_stride = D;
    if (save) out.block_states = block_states.data();
    SelectiveScanForward(in, out, threads);
  }

  void Backward(int threads) {
    SelectiveScanGradInputs<float> grad;
    grad.dy = dy.data();
    grad.dy_stride = D;
    grad.block_states = block_states.data();
    SelectiveScanBackward(
        in, grad,
        {du.data(), ddelta.data(), dA.data(), dB.data(), dC.data(), dD.data(), dz.data(), dbias.data(), nullptr},
        threads);
  }

  // The forward pass by hand.
  void Loop() {
    std::vector<float> h(D * kStates);
    for (int64_t s = 0; s < in.sequences; ++s) {
      h.assign(D * kStates, 0);
      for (int64_t t = cu_seqlens[s]; t < cu_seqlens[s + 1]; ++t) {
        for (int64_t c = 0; c < D; ++c) {
          const float u = in.u[t * in.u_stride + c], z = in.z[t * in.z_stride + c];
          const float dt = std::log1p(std::exp(delta[t * D + c] + bias[c]));
          float sum = D_skip[c] * u;
          for (int64_t n = 0; n < kStates; ++n) {
            float a = std::exp(dt * A[c * kStates + n]);
            if (in.allow_neg_eigval) a = 2 * a - 1;
            float& h_n = h[c * kStates + n];
            h_n = a * h_n + dt * u * B[t * kStates + n];
            sum += h_n * C[t * kStates + n];
          }
          y[t * D + c] = sum * z / (1 + std::exp(-z));
        }
      }
    }
  }

  int64_t T, D;
  std::vector<int32_t> cu_seqlens{0};
  std::vector<float> uz, delta, A, B, C, D_skip, bias, dy, y, block_states, du, ddelta, dz, dA, dB, dC, dD, dbias;
  SelectiveScanInputs<float> in;
};

template <typename Pass>
void Measure(benchmark::State& state, const Pass& pass) {
  Problem problem(state);
  for (auto _ : state) {
    pass(problem, static_cast<int>(state.range(4)));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * problem.T);
}

void Forward(benchmark::State& state) {
  Measure(state, [](Problem& problem, int threads) { problem.Forward(threads, false); });
}

void ForwardBackward(benchmark::State& state) {
  Measure(state, [](Problem& problem, int threads) {
    problem.Forward(threads, true);
    problem.Backward(threads);
  });
}

void Reference(benchmark::State& state) {
  Measure(state, [](Problem& problem, int) { problem.Loop(); });
}

// 21,500 is what 1024 lengths of 3 to 40 come to.
void Shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"T", "D", "S", "extended", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (int threads : {1, 2}) {
    for (int extended : {0, 1}) {
      benchmark->Args({1024, 256, 1, extended, threads});
      benchmark->Args({21500, 256, 1024, extended, threads});
      benchmark->Args({2048, 1536, 1, extended, threads});
    }
  }
}

BENCHMARK(Forward)->Name("SelectiveScan/fused")->Apply(Shapes);
BENCHMARK(ForwardBackward)->Name("SelectiveScan/fused_with_backward")->Apply(Shapes);
BENCHMARK(Reference)
    ->Name("SelectiveScan/reference")
    ->ArgNames({"T", "D", "S", "extended", "threads"})
    ->Args({1024, 256, 1, 0, 1})
    ->Args({1024, 256, 1, 1, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lrnn::kernels
