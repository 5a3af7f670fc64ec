// The 95 % Wilson interval of a success rate, and accuracy scaled so that guessing is 0 and perfection 1.
//
//   centre (p + z^2/2n) / (1 + z^2/n),   half width z sqrt(p (1-p)/n + z^2/4n^2) / (1 + z^2/n),   z = 1.96
//
// Unlike p +- z sqrt(p (1-p)/n) it is honest near 0 and 1, where our results lie: 38 of 38 right is not "1 +- 0".
#pragma once

#include <cstdint>

namespace lrnn {

struct Interval {
  double low;
  double high;
};

// 0 <= successes <= trials, trials >= 1.
Interval WilsonInterval(int64_t successes, int64_t trials);

// (accuracy - chance) / (1 - chance), negative below chance.
inline double ScaledAccuracy(double accuracy, double chance) { return (accuracy - chance) / (1 - chance); }

}  // namespace lrnn
