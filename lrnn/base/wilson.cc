#include "lrnn/base/wilson.h"

#include <algorithm>
#include <cmath>

#include "lrnn/base/error.h"

namespace lrnn {

Interval WilsonInterval(int64_t successes, int64_t trials) {
  LRNN_CHECK(trials >= 1, "[WilsonInterval] expected at least one trial, got {}", trials);
  LRNN_CHECK(0 <= successes && successes <= trials, "[WilsonInterval] expected 0 .. {} successes, got {}", trials,
             successes);
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double scale = 1 / (1 + z * z / n);
  const double centre = (p + z * z / (2 * n)) * scale;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) * scale;
  // Exact at the ends, where rounding would leave 0.9999999999999999.
  return {successes == 0 ? 0.0 : std::max(0.0, centre - half),
          successes == trials ? 1.0 : std::min(1.0, centre + half)};
}

}  // namespace lrnn
