// The parts of the table.
#pragma once

#include <fmt/core.h>

#include "bench/table.h"

namespace lrnn::bench {

struct Limits {
  int threads;
  Limit fma;   // flops
  Limit exp;   // exponentials
  Limit read;  // bytes
};

Limits BenchMachine(Table& table, int threads);
void BenchDeltaRule(Table& table, const Limits& limits);
void BenchSelectiveScan(Table& table, const Limits& limits);
void BenchOtherLayers(Table& table, const Limits& limits);
void BenchTraining(Table& table, const Limits& limits);

// How many bytes a training step of 128 sequences needs besides the model, in a process that has done nothing before.
double PeakMemoryOfAStep(const std::string& layer, bool eager, int threads);

}  // namespace lrnn::bench
