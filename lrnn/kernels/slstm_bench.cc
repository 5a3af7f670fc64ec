// Tokens a second of sLSTM (4 heads of 32) and LSTM (one of 128) over a batch of the parity task, 1,024 sequences of 3
// to 40 tokens, and over one long sequence, forward and with backward, beside a scalar loop. GFLOP/s count the products
// with R alone: 8 K K a token and head forward, twice that with backward.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "lrnn/base/hardware.h"
#include "lrnn/base/rng.h"
#include "lrnn/kernels/lstm.h"
#include "lrnn/kernels/slstm.h"

namespace lrnn::kernels {
namespace {

struct Cell {
  const char* name;
  int64_t H, K;
  int64_t (*saved_size)(const GatedRnnShape&);
  void (*forward)(const GatedRnnShape&, const GatedRnnInputs<float>&, const GatedRnnOutputs<float>&, int);
  void (*backward)(const GatedRnnShape&, const GatedRnnInputs<float>&, const float*, const float*, const float*,
                   const GatedRnnGradients<float>&, int);
};

struct Problem {
  Problem(const Cell& cell, int64_t sequences, int64_t shortest, int64_t longest) : cell(cell), cu_seqlens{0} {
    Rng rng(1, 0);
    for (int64_t i = 0; i < sequences; ++i) {
      const auto length = shortest + rng.Below(static_cast<uint32_t>(longest - shortest + 1));
      cu_seqlens.push_back(cu_seqlens.back() + static_cast<int32_t>(length));
    }
    const auto fill = [&](int64_t count, double bound) {
      std::vector<float> x(count);
      for (int64_t i = 0; i < count; ++i) {
        x[i] = i < 10007 ? static_cast<float>(rng.Uniform(-bound, bound)) : x[i - 10007];
      }
      return x;
    };
    T = cu_seqlens.back();
    x = fill(T * cell.H * 4 * cell.K, 2), R = fill(cell.H * cell.K * 4 * cell.K, 0.2),
    bias = fill(cell.H * 4 * cell.K, 1);
    y.resize(T * cell.H * cell.K), d_y = fill(y.size(), 1);
    saved.resize(cell.saved_size(shape())), d_x.resize(x.size()), d_bias.resize(bias.size());
  }
  GatedRnnShape shape() const {
    return {static_cast<int64_t>(cu_seqlens.size()) - 1, cu_seqlens.data(), cell.H, cell.K};
  }
  GatedRnnInputs<float> in() const {
    return {x.data(), cell.H * 4 * cell.K, 4 * cell.K, R.data(), bias.data(), nullptr};
  }

  Cell cell;
  std::vector<int32_t> cu_seqlens;
  int64_t T;
  std::vector<float> x, R, bias, y, d_y, saved, d_x, d_bias;
};

void Report(benchmark::State& state, const Problem& p, double flops) {
  state.SetItemsProcessed(state.iterations() * p.T);
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * static_cast<double>(p.cell.K * p.cell.K * p.cell.H * p.T * state.iterations()) * 1e-9,
                         benchmark::Counter::kIsRate);
}

void Forward(benchmark::State& state, Problem& p) {
  for (auto _ : state) p.cell.forward(p.shape(), p.in(), {p.y.data(), nullptr, nullptr}, CpuCount());
  Report(state, p, 8);
}

void ForwardBackward(benchmark::State& state, Problem& p) {
  for (auto _ : state) {
    p.cell.forward(p.shape(), p.in(), {p.y.data(), nullptr, p.saved.data()}, CpuCount());
    p.cell.backward(p.shape(), p.in(), p.saved.data(), p.d_y.data(), nullptr,
                    {p.d_x.data(), p.cell.H * 4 * p.cell.K, 4 * p.cell.K, p.d_bias.data(), nullptr}, CpuCount());
  }
  Report(state, p, 16);
}

// sLSTM, one sequence after the other, one thread, as the equations stand.
void Reference(benchmark::State& state, Problem& p) {
  const int64_t H = p.cell.H, K = p.cell.K;
  std::vector<float> h(K), c(K), n(K), m(K), gates(4 * K);
  for (auto _ : state) {
    for (size_t i = 0; i + 1 < p.cu_seqlens.size(); ++i) {
      for (int64_t head = 0; head < H; ++head) {
        for (std::vector<float>* zero : {&h, &c, &n, &m}) std::fill(zero->begin(), zero->end(), 0.0f);
        for (int64_t t = p.cu_seqlens[i]; t < p.cu_seqlens[i + 1]; ++t) {
          for (int64_t g = 0; g < 4 * K; ++g) gates[g] = p.x[(t * H + head) * 4 * K + g] + p.bias[head * 4 * K + g];
          for (int64_t l = 0; l < K; ++l) {
            for (int64_t g = 0; g < 4 * K; ++g) gates[g] += h[l] * p.R[(head * K + l) * 4 * K + g];
          }
          for (int64_t u = 0; u < K; ++u) {
            const float kept = m[u] - std::log1p(std::exp(-gates[K + u]));
            const float after = n[u] == 0 ? gates[u] : std::max(gates[u], kept);
            const float input = std::exp(gates[u] - after), forget = n[u] == 0 ? 0 : std::exp(kept - after);
            c[u] = forget * c[u] + input * std::tanh(gates[2 * K + u]);
            n[u] = forget * n[u] + input;
            m[u] = after;
            h[u] = p.y[(t * H + head) * K + u] = c[u] / n[u] / (1 + std::exp(-gates[3 * K + u]));
          }
        }
      }
    }
    benchmark::DoNotOptimize(p.y.data());
  }
  Report(state, p, 8);
}

const int registered = [] {
  const Cell slstm{"Slstm", 4, 32, SlstmSavedSize, SlstmForward, SlstmBackward};
  const Cell lstm{"Lstm", 1, 128, LstmSavedSize, LstmForward, LstmBackward};
  const auto add = [](const Cell& cell, const std::string& kind, void (*run)(benchmark::State&, Problem&)) {
    const auto register_size = [&](const char* size, int64_t sequences, int64_t shortest, int64_t longest) {
      const auto body = [=](benchmark::State& state) {
        Problem problem(cell, sequences, shortest, longest);
        run(state, problem);
      };
      benchmark::RegisterBenchmark((std::string(cell.name) + "/" + kind + size).c_str(), body)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    };
    register_size("/N:1024/T:3..40", 1024, 3, 40);
    register_size("/N:1/T:2048", 1, 2048, 2048);
  };
  add(slstm, "reference", Reference);
  for (const Cell& cell : {slstm, lstm}) {
    add(cell, "fused", Forward);
    add(cell, "fused/backward", ForwardBackward);
  }
  return 0;
}();

}  // namespace
}  // namespace lrnn::kernels
