// How long automata take to compile, and to certify. `slowest_ms` is the processor time of the slowest of a row's
// automata.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "lrnn/automata/finite_group.h"
#include "lrnn/automata/groups.h"
#include "lrnn/automata/random_dfa.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/certify.h"
#include "lrnn/compile/compiler.h"

namespace lrnn {
namespace {

std::vector<Dfa> RandomAutomata(int count, int states, int letters) {
  std::vector<Dfa> automata;
  for (uint64_t stream = 0; static_cast<int>(automata.size()) < count; ++stream) {
    Rng rng(1, stream);
    Dfa dfa = RandomDfa(rng, states, letters);
    if (dfa.num_states >= states - 1) automata.push_back(std::move(dfa));  // all states, or nearly
  }
  return automata;
}

template <typename Work>
void Measure(benchmark::State& state, const std::vector<Dfa>& automata, const Work& work) {
  double slowest = 0.0;
  size_t next = 0;
  for (auto _ : state) {
    const std::clock_t start = std::clock();
    work(automata[next]);
    slowest = std::max(slowest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    next = (next + 1) % automata.size();
  }
  state.counters["slowest_ms"] = 1e3 * slowest;
}

void CompileOnly(const Dfa& dfa) { benchmark::DoNotOptimize(Compile(dfa, {})); }
void CompileAndCertify(const Dfa& dfa) { benchmark::DoNotOptimize(Certify(Compile(dfa, {}).network)); }

void Random(benchmark::State& state, void (*work)(const Dfa&)) {
  Measure(state, RandomAutomata(50, static_cast<int>(state.range(0)), static_cast<int>(state.range(1))), work);
}
BENCHMARK_CAPTURE(Random, compile, CompileOnly)
    ->ArgNames({"states", "letters"})
    ->Args({8, 2})
    ->Args({8, 4})
    ->Args({20, 2})
    ->Args({20, 4})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(50);
BENCHMARK_CAPTURE(Random, compile_and_certify, CompileAndCertify)
    ->ArgNames({"states", "letters"})
    ->Args({8, 2})
    ->Args({20, 2})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(50);

void Group(benchmark::State& state, const char* name, void (*work)(const Dfa&)) {
  Measure(state, {CayleyAutomaton(FiniteGroup(ParseGroup(name)))}, work);
}
BENCHMARK_CAPTURE(Group, S5, "S5", CompileOnly)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, S5_certify, "S5", CompileAndCertify)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, A5, "A5", CompileOnly)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, S6, "S6", CompileOnly)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, PSL_2_7, "PSL(2,7)", CompileOnly)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, Z60, "Z60", CompileOnly)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lrnn
