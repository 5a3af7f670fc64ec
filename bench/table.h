// The table that `make bench` prints: one row for each thing measured, with what it should reach.
#pragma once

#include <string>
#include <vector>

#include "bench/machine.h"

namespace lrnn::bench {

enum class Goal { kAtLeast, kAtMost };

class Table {
 public:
  void Section(const std::string& title);
  // A limit or a figure without a goal.
  void Add(const std::string& work, const std::string& value, bool contended = false);
  void Add(const std::string& work, const std::string& detail, double value, Goal goal, double bound, bool contended);
  void Add(const std::string& work, const Ratio& ratio, Goal goal, double bound);

  // The rows so far that miss their goal.
  int missed() const { return missed_; }

 private:
  void Print(const std::string& work, const std::string& detail, const std::string& value, const std::string& verdict);
  int missed_ = 0;
};

}  // namespace lrnn::bench
