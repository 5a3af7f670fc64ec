#include "lrnn/kernels/matvec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class MatVecTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MatVecTest, Types);

template <typename T>
std::vector<T> Normals(int64_t n, uint64_t stream) {
  Rng rng(7, stream);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(rng.Normal());
  return values;
}

TYPED_TEST(MatVecTest, EqualsTheDoubleLoopInEveryTarget) {
  using T = TypeParam;
  ForEachTarget([](const char* target) {
    for (int64_t in : {1, 3, 7, 8, 9, 15, 16, 17, 35, 67, 128}) {
      for (int64_t out : {1, 3, 4, 5, 19}) {
        for (bool with_bias : {false, true}) {
          SCOPED_TRACE(testing::Message() << target << " out " << out << " in " << in << " bias " << with_bias);
          // One element off: no pointer is aligned to a vector.
          const auto W = Normals<T>(out * in + 1, 0), x = Normals<T>(in + 1, 1), bias = Normals<T>(out + 1, 2);
          std::vector<T> y(out + 1, std::numeric_limits<T>::quiet_NaN());
          MatVec(W.data() + 1, x.data() + 1, with_bias ? bias.data() + 1 : nullptr, out, in, y.data() + 1, 1);
          for (int64_t r = 0; r < out; ++r) {
            double sum = with_bias ? bias[r + 1] : 0, size = std::abs(sum);
            for (int64_t i = 0; i < in; ++i) {
              const double product = static_cast<double>(W[1 + r * in + i]) * x[1 + i];
              sum += product;
              size += std::abs(product);
            }
            ASSERT_NEAR(y[1 + r], sum, 8 * std::numeric_limits<T>::epsilon() * size) << "row " << r;
          }
        }
      }
    }
  });
}

TYPED_TEST(MatVecTest, ThreadsDoNotChangeABit) {
  using T = TypeParam;
  const int64_t out = 1003, in = 513;  // several blocks of rows
  const auto W = Normals<T>(out * in, 0), x = Normals<T>(in, 1), bias = Normals<T>(out, 2);
  std::vector<T> one(out), two(out);
  MatVec(W.data(), x.data(), bias.data(), out, in, one.data(), 1);
  MatVec(W.data(), x.data(), bias.data(), out, in, two.data(), 2);
  EXPECT_EQ(one, two);
}

TEST(MatVec, NoInputsLeaveTheBias) {
  const float bias[] = {1, 2};
  float y[] = {NAN, NAN};
  MatVec(static_cast<const float*>(nullptr), nullptr, bias, 2, 0, y, 1);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 2);
}

}  // namespace
}  // namespace lrnn::kernels
