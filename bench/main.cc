// lrnn_performance [THREADS]: what the kernels reach of what the machine allows, one row each. Exit code 0 also when a
// goal is missed: machines differ, the table tells.
#include <ATen/Parallel.h>

#include <cstdlib>

#include "bench/benchmarks.h"
#include "lrnn/base/hardware.h"
#include "lrnn/base/version.h"

int main(int argc, char** argv) {
  using namespace lrnn;
  const int threads = argc > 1 ? std::atoi(argv[1]) : CpuCount();
  if (threads < 1) {
    fmt::print(stderr, "lrnn_performance: expected a number of threads, got '{}'\n", argv[1]);
    return 2;
  }
  at::set_num_threads(threads);
  fmt::print("lrnn {}, {}\n", kVersion, CpuName());
  bench::Table table;
  const bench::Limits limits = bench::BenchMachine(table, threads);
  bench::BenchDeltaRule(table, limits);
  bench::BenchSelectiveScan(table, limits);
  bench::BenchTraining(table, limits);
  fmt::print("\n{} goals missed\n", table.missed());
}
