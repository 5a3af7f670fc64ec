// Tokens per second of the recurrence with dense transitions, forward and backward: a table of 120 matrices and a
// matrix state, as for the words of S5, and one matrix for each token with a vector state.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/matrix_scan.h"

namespace lrnn::kernels {
namespace {

std::vector<float> Normals(int64_t n, double scale) {
  Rng rng(1, n);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(scale * rng.Normal());
  return values;
}

struct Problem {
  // Sequences of 32 tokens.
  Problem(int64_t T, int64_t n, bool has_table)
      : m(has_table ? n : 1),
        matrices(has_table ? 120 : 0),
        A(Normals((has_table ? 120 : T) * n * n, 1 / std::sqrt(static_cast<double>(n)))),
        B(Normals(T * n * m, 1)),
        S(T * n * m) {
    for (int64_t t = 0; t <= T; t += 32) cu_seqlens.push_back(static_cast<int32_t>(t));
    Rng rng(2, 0);
    for (int64_t t = 0; t < T && has_table; ++t) which.push_back(rng.Below(120));
    shape = {static_cast<int64_t>(cu_seqlens.size()) - 1, cu_seqlens.data(), n, m};
    in = {.A = A.data(), .which = has_table ? which.data() : nullptr, .matrices = matrices, .B = B.data()};
  }

  int64_t m, matrices;
  std::vector<float> A, B, S;
  std::vector<int64_t> which;
  std::vector<int32_t> cu_seqlens;
  MatrixScanShape shape;
  MatrixScanInputs<float> in;
};

void Forward(benchmark::State& state) {
  Problem p(state.range(0), state.range(1), state.range(2));
  for (auto _ : state) {
    MatrixScan(p.shape, p.in, p.S.data(), static_cast<int>(state.range(3)));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Backward(benchmark::State& state) {
  Problem p(state.range(0), state.range(1), state.range(2));
  MatrixScan(p.shape, p.in, p.S.data(), 1);
  std::vector<float> d_A(p.A.size()), d_B(p.S.size());
  for (auto _ : state) {
    MatrixScanBackward(p.shape, p.in, p.S.data(), p.B.data(), {d_A.data(), d_B.data(), nullptr},
                       static_cast<int>(state.range(3)));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"T", "n", "table", "threads"})->Args({2048, 32, 1, 1})->Args({2048, 64, 0, 1});
}

BENCHMARK(Forward)->Name("MatrixScan/fused")->Apply(Sizes);
BENCHMARK(Backward)->Name("MatrixScanBackward/fused")->Apply(Sizes);

}  // namespace
}  // namespace lrnn::kernels
