// The kernel against the recurrence as a scalar loop, in every SIMD target.
#include "lrnn/kernels/diagonal_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class DiagonalScanTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(DiagonalScanTest, Types);

// Arrays start one element off a vector's alignment; what is written starts as NaN.
template <typename T>
struct Problem {
  Problem(const std::vector<int64_t>& lengths, int64_t D, bool has_initial) : D(D), has_initial(has_initial) {
    for (int64_t length : lengths) cu_seqlens.push_back(cu_seqlens.back() + static_cast<int32_t>(length));
    const int64_t T_D = cu_seqlens.back() * D, N_D = static_cast<int64_t>(lengths.size()) * D;
    a = Normals(T_D, 0), b = Normals(T_D, 1), initial = Normals(N_D, 2), d_h = Normals(T_D, 3);
    for (int64_t i = 0; i < T_D; i += 5) a[1 + i] = static_cast<T>(i / 5 % 3 - 1);  // exactly -1, 0, 1
    for (auto* out : {&h, &d_a, &d_b}) out->assign(T_D + 1, std::numeric_limits<T>::quiet_NaN());
    d_initial.assign(N_D + 1, std::numeric_limits<T>::quiet_NaN());
  }

  static std::vector<T> Normals(int64_t n, uint64_t stream) {
    Rng rng(5, stream);
    std::vector<T> values(n + 1);
    for (T& value : values) value = static_cast<T>(0.7 * rng.Normal());
    return values;
  }

  int64_t sequences() const { return static_cast<int64_t>(cu_seqlens.size()) - 1; }

  void Run(int threads) {
    const DiagonalScanShape shape{sequences(), cu_seqlens.data(), D};
    const T* start = has_initial ? initial.data() + 1 : nullptr;
    DiagonalScan(shape, a.data() + 1, b.data() + 1, start, h.data() + 1, threads);
    DiagonalScanBackward(shape, a.data() + 1, start, h.data() + 1, d_h.data() + 1, d_a.data() + 1, d_b.data() + 1,
                         has_initial ? d_initial.data() + 1 : nullptr, threads);
  }

  void ExpectRecurrence() const {
    const auto near = [](const char* name, T got, double expected) {
      EXPECT_NEAR(got, expected, 50 * std::numeric_limits<T>::epsilon() * (1 + std::abs(expected))) << name;
    };
    for (int64_t i = 0; i < sequences(); ++i) {
      for (int64_t c = 0; c < D; ++c) {
        const int64_t begin = cu_seqlens[i], end = cu_seqlens[i + 1];
        std::vector<double> states{has_initial ? double{initial[1 + i * D + c]} : 0.0};
        for (int64_t t = begin; t < end; ++t) {
          states.push_back(double{a[1 + t * D + c]} * states.back() + double{b[1 + t * D + c]});
          near("h", h[1 + t * D + c], states.back());
        }
        double gradient = 0;  // of h_t
        for (int64_t t = end - 1; t >= begin; --t) {
          gradient += d_h[1 + t * D + c];
          near("d_b", d_b[1 + t * D + c], gradient);
          near("d_a", d_a[1 + t * D + c], gradient * states[t - begin]);
          gradient *= a[1 + t * D + c];
        }
        if (has_initial) near("d_initial", d_initial[1 + i * D + c], gradient);
      }
    }
  }

  int64_t D;
  bool has_initial;
  std::vector<int32_t> cu_seqlens{0};
  std::vector<T> a, b, initial, d_h, h, d_a, d_b, d_initial;
};

TYPED_TEST(DiagonalScanTest, IsTheRecurrenceInEveryTarget) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (int64_t D : {1, 3, 7, 8, 9, 33}) {
      for (bool has_initial : {false, true}) {
        Problem<TypeParam> problem({1, 0, 2, 17}, D, has_initial);
        problem.Run(1);
        problem.ExpectRecurrence();
      }
    }
  });
}

TYPED_TEST(DiagonalScanTest, ManyColumnsAndThreads) {
  Problem<TypeParam> one({90, 3, 0, 70, 40}, 300, true), many = one;
  one.Run(1);
  one.ExpectRecurrence();
  many.Run(3);
  const auto tail = [](const std::vector<TypeParam>& v) { return std::vector<TypeParam>(v.begin() + 1, v.end()); };
  EXPECT_EQ(tail(one.h), tail(many.h));
  EXPECT_EQ(tail(one.d_a), tail(many.d_a));
  EXPECT_EQ(tail(one.d_b), tail(many.d_b));
  EXPECT_EQ(tail(one.d_initial), tail(many.d_initial));
}

TYPED_TEST(DiagonalScanTest, AStreamInPlace) {
  Problem<TypeParam> whole({6}, 5, false);
  whole.Run(1);
  const int32_t one_token[] = {0, 1};
  std::vector<TypeParam> state(5, 0);
  for (int64_t t = 0; t < 6; ++t) {
    DiagonalScan({1, one_token, 5}, whole.a.data() + 1 + t * 5, whole.b.data() + 1 + t * 5, state.data(), state.data(),
                 1);
    for (int64_t c = 0; c < 5; ++c) EXPECT_EQ(state[c], whole.h[1 + t * 5 + c]);
  }
}

TYPED_TEST(DiagonalScanTest, NothingToDo) {
  for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{}, {0, 0}}) {
    Problem<TypeParam> problem(lengths, 3, true);
    problem.Run(2);
    problem.ExpectRecurrence();
  }
}

}  // namespace
}  // namespace lrnn::kernels
