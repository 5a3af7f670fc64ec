// lrnn_performance [--threads N] [PART...]: what the kernels reach of what the machine allows, one row each. Exit code
// 0 also when a goal is missed: machines differ, the table tells.

#include <CLI/CLI.hpp>

#include "bench/benchmarks.h"
#include "lrnn/base/hardware.h"
#include "lrnn/base/version.h"
#include "lrnn/ops/huge_pages.h"
#include "lrnn/ops/threads.h"

int main(int argc, char** argv) {
  using namespace lrnn;
  const std::map<std::string, void (*)(bench::Table&, const bench::Limits&)> parts = {
      {"delta_rule", bench::BenchDeltaRule},
      {"other_layers", bench::BenchOtherLayers},
      {"selective_scan", bench::BenchSelectiveScan},
      {"training", bench::BenchTraining},
  };
  int threads = CpuCount();
  std::vector<std::string> wanted;
  CLI::App app("What the kernels reach of what this machine allows");
  app.add_option("--threads", threads, "threads")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("part", wanted, "parts of the table; all without")->check(CLI::IsMember(parts));
  // For the program itself, which measures memory in processes of their own.
  std::string peak_memory;
  bool eager = false;
  app.add_option("--peak-memory", peak_memory)->group("");
  app.add_flag("--eager", eager)->group("");
  CLI11_PARSE(app, argc, argv);

  ops::UseThreads(threads);
  ops::UseHugePages();
  if (!peak_memory.empty()) {
    fmt::print("{}\n", bench::PeakMemoryOfAStep(peak_memory, eager, threads));
    return 0;
  }
  fmt::print("lrnn {}, {}\n", kVersion, CpuName());
  bench::Table table;
  const bench::Limits limits = bench::BenchMachine(table, threads);
  for (const auto& [name, bench] : parts) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) bench(table, limits);
  }
  fmt::print("\n{} goals missed\n", table.missed());
}
