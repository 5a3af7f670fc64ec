// Tokens per second of one stream on one thread, with the sizes of the paper's formal-language models and a larger one.
#include <benchmark/benchmark.h>

#include "lrnn/io/test_directory.h"
#include "lrnn/runtime/model.h"
#include "lrnn/runtime/test_delta_rule.h"
#include "lrnn/runtime/test_model.h"

namespace lrnn {
namespace {

void Run(benchmark::State& state, const TestModel& weights) {
  TestDirectory directory;
  weights.Write(directory.path());
  const auto session = RuntimeModel::Load(directory.path()).NewSession();
  int32_t token = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(session->Step(token).data());
    token ^= 1;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["state_bytes"] = static_cast<double>(session->StateBytes());
}

void DeltaNet(benchmark::State& state) {
  const int64_t D = state.range(0);
  Run(state, TestDeltaNet({{"hidden_size", D},
                           {"num_heads", 4},
                           {"expand_k", 1},
                           {"expand_v", 1},
                           {"intermediate_size", 4 * D},
                           {"allow_neg_eigval", true}}));
}
BENCHMARK(DeltaNet)->Name("Step/delta_net")->ArgName("D")->Arg(128)->Arg(1024);

void Mamba(benchmark::State& state) {
  Run(state, TestMamba({{"hidden_size", state.range(0)},
                        {"expand", 2},
                        {"state_size", 16},
                        {"conv_kernel", 4},
                        {"time_step_rank", "auto"},
                        {"allow_neg_eigval", true}}));
}
BENCHMARK(Mamba)->Name("Step/mamba")->ArgName("D")->Arg(128)->Arg(1024);

}  // namespace
}  // namespace lrnn
