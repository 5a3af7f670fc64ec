// The parts of the table.
#pragma once

#include <fmt/core.h>

#include "bench/table.h"

namespace lrnn::bench {

struct Limits {
  int threads = 1;
  double fma = 0;   // flops a second
  double exp = 0;   // exponentials a second
  double gemm = 0;  // flops a second of a matrix product of the models' shape
};

Limits BenchMachine(Table& table, int threads);
void BenchDeltaRule(Table& table, const Limits& limits);
void BenchSelectiveScan(Table& table, const Limits& limits);
void BenchTraining(Table& table, const Limits& limits);

}  // namespace lrnn::bench
