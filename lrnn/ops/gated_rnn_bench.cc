// sLSTM and LSTM of width 128 over a batch of the parity task, 1,024 sequences of 3 to 40 tokens, forward and with
// backward: the fused kernel beside a loop over the steps in eager torch operations, all sequences that still run
// advancing together. (A loop that pads all sequences to the longest does nearly twice the work.)
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "lrnn/base/hardware.h"
#include "lrnn/base/rng.h"
#include "lrnn/ops/gated_rnn.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = GatedRnnResult (*)(const Tensor&, const Tensor&, const Tensor&, const GatedRnnOptions&, const Sequences&,
                                const c10::optional<Tensor>&);

void Run(benchmark::State& state, Form form, int64_t H, bool backward) {
  at::set_num_threads(CpuCount());
  Rng rng(1, 0);
  std::vector<int64_t> lengths(1024);
  for (int64_t& length : lengths) length = 3 + rng.Below(38);
  const auto sequences = Sequences::FromLengths(lengths);
  const int64_t K = 128 / H;
  torch::manual_seed(1);
  Tensor x = torch::randn({sequences.tokens(), H, 4, K}), R = 0.1 * torch::randn({H, K, 4, K}),
         bias = torch::randn({H, 4, K});
  for (Tensor* tensor : {&x, &R, &bias}) tensor->requires_grad_(backward);
  for (auto _ : state) {
    const Tensor y = form(x, R, bias, {}, sequences, c10::nullopt).y;
    if (backward) torch::autograd::grad({y.sum()}, {x, R, bias});
  }
  state.SetItemsProcessed(state.iterations() * sequences.tokens());
}

const int registered = [] {
  struct Row {
    const char* name;
    Form form;
    int64_t heads;
  };
  for (const Row& row : {Row{"Slstm/eager", SlstmAten, 4}, Row{"Slstm/fused", Slstm, 4}, Row{"Lstm/eager", LstmAten, 1},
                         Row{"Lstm/fused", Lstm, 1}}) {
    for (bool backward : {false, true}) {
      const std::string name = std::string(row.name) + (backward ? "/backward" : "") + "/N:1024/T:3..40";
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& s) { Run(s, row.form, row.heads, backward); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace lrnn::ops
