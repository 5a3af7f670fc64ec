#include "lrnn/base/flush_subnormals.h"

#include <gtest/gtest.h>

#include <limits>

namespace lrnn {
namespace {

// volatile: computed when and where it stands.
template <typename T>
T Half(T value) {
  volatile T number = value;
  number = number * T(0.5);
  return number;
}

template <typename T>
void ExpectFlushedInsideOnly() {
  const T smallest = std::numeric_limits<T>::min(), subnormal = std::numeric_limits<T>::denorm_min() * 2;
  {
    const FlushSubnormals flush;
    EXPECT_EQ(Half(smallest) == 0, FlushSubnormals::kHasEffect);   // a result
    EXPECT_EQ(Half(subnormal) == 0, FlushSubnormals::kHasEffect);  // an operand
    EXPECT_GT(Half(4 * smallest), 0);
    { const FlushSubnormals inner; }
    EXPECT_EQ(Half(smallest) == 0, FlushSubnormals::kHasEffect);
  }
  EXPECT_GT(Half(smallest), 0);
  EXPECT_GT(Half(subnormal), 0);
}

TEST(FlushSubnormals, SubnormalsAreZeroWhileItLives) {
  ExpectFlushedInsideOnly<float>();
  ExpectFlushedInsideOnly<double>();
}

}  // namespace
}  // namespace lrnn
