#include "lrnn/report/aligned_rows.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

TEST(AlignRows, FirstColumnLeftTheOthersRight) {
  EXPECT_EQ(AlignRows({{"Model", "a"}, {"x", "1.000 ± 0.1"}, {"longer", "2"}}),
            "Model             a\n"
            "-------------------\n"
            "x       1.000 ± 0.1\n"
            "longer            2\n");
}

}  // namespace
}  // namespace lrnn
