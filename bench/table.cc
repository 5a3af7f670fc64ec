#include "bench/table.h"

#include <fmt/core.h>

#include <cstdio>

namespace lrnn::bench {

void Table::Section(const std::string& title) {
  fmt::print("\n{}\n", title);
  Print("work", "measured", "value", "verdict");
}

void Table::Add(const std::string& work, const std::string& value, bool contended) {
  Print(work, value, "", contended ? "contended" : "");
}

void Table::Add(const std::string& work, const std::string& detail, double value, Goal goal, double bound,
                bool contended) {
  const bool reached = goal == Goal::kAtLeast ? value >= bound : value <= bound;
  if (!reached) ++missed_;
  Print(work, detail, fmt::format("{:.3g}", value),
        fmt::format("{} {:.3g}: {}{}", goal == Goal::kAtLeast ? "at least" : "at most", bound,
                    reached ? "reached" : "missed", contended ? ", contended" : ""));
}

void Table::Add(const std::string& work, const Ratio& ratio, Goal goal, double bound) {
  Add(work, fmt::format("{:.3g} ms to {:.3g} ms", ratio.of.seconds * 1e3, ratio.to.seconds * 1e3), ratio.ratio, goal,
      bound, ratio.contended());
}

void Table::Print(const std::string& work, const std::string& detail, const std::string& value,
                  const std::string& verdict) {
  fmt::print("  {:<58} {:<34} {:>7}  {}\n", work, detail, value, verdict);
  std::fflush(stdout);
}

}  // namespace lrnn::bench
