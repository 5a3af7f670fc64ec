// The kernel against the recurrence as scalar loops, in every SIMD target.
#include "lrnn/kernels/matrix_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class MatrixScanTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MatrixScanTest, Types);

struct Case {
  std::vector<int64_t> lengths;
  int64_t n, m;
  int64_t matrices;  // of the table, 0: one for each token
  bool has_input, has_initial;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "n " << c.n << " m " << c.m << " matrices " << c.matrices << " input " << c.has_input << " initial "
             << c.has_initial;
}

// Arrays start one element off a vector's alignment; what is written starts as NaN.
template <typename T>
struct Problem {
  explicit Problem(const Case& c) : c(c) {
    for (int64_t length : c.lengths) cu_seqlens.push_back(cu_seqlens.back() + static_cast<int32_t>(length));
    const int64_t tokens = cu_seqlens.back(), N = static_cast<int64_t>(c.lengths.size()), state = c.n * c.m;
    const int64_t matrices = c.matrices ? c.matrices : tokens;
    A = Normals(matrices * c.n * c.n, 0, 0.7 / std::sqrt(static_cast<double>(c.n)));
    B = Normals(tokens * state, 1, 1), initial = Normals(N * state, 2, 1), d_S = Normals(tokens * state, 3, 1);
    Rng rng(8, 0);
    for (int64_t t = 0; t < tokens && c.matrices; ++t) {
      // Most tokens have matrix 0, and the last matrix has none.
      which.push_back(rng.Below(2) ? 0 : rng.Below(std::max<uint32_t>(1, static_cast<uint32_t>(c.matrices) - 1)));
    }
    S = d_B = Nans(tokens * state), d_A = Nans(matrices * c.n * c.n), d_initial = Nans(N * state);
  }

  static std::vector<T> Normals(int64_t count, uint64_t stream, double scale) {
    Rng rng(5, stream);
    std::vector<T> values(count + 1);
    for (T& value : values) value = static_cast<T>(scale * rng.Normal());
    return values;
  }
  static std::vector<T> Nans(int64_t count) { return std::vector<T>(count + 1, std::numeric_limits<T>::quiet_NaN()); }

  MatrixScanShape Shape() const { return {static_cast<int64_t>(cu_seqlens.size()) - 1, cu_seqlens.data(), c.n, c.m}; }

  void Run(int threads) {
    const MatrixScanInputs<T> in{.A = A.data() + 1,
                                 .which = c.matrices ? which.data() : nullptr,
                                 .matrices = c.matrices,
                                 .B = c.has_input ? B.data() + 1 : nullptr,
                                 .initial_state = c.has_initial ? initial.data() + 1 : nullptr};
    MatrixScan(Shape(), in, S.data() + 1, threads);
    MatrixScanBackward(Shape(), in, S.data() + 1, d_S.data() + 1,
                       {d_A.data() + 1, d_B.data() + 1, c.has_initial ? d_initial.data() + 1 : nullptr}, threads);
  }

  void ExpectRecurrence() const {
    SCOPED_TRACE(c);
    const int64_t n = c.n, m = c.m;
    const auto near = [&](const char* name, const std::vector<T>& got, int64_t i, double expected) {
      ASSERT_NEAR(got[1 + i], expected, 1000 * std::numeric_limits<T>::epsilon() * (1 + std::abs(expected)))
          << name << " element " << i;
    };
    std::vector<double> gradient_A(A.size() - 1, 0);
    for (int64_t s = 0; s < Shape().sequences; ++s) {
      const int64_t begin = cu_seqlens[s], end = cu_seqlens[s + 1];
      std::vector<std::vector<double>> states{std::vector<double>(n * m, 0)};
      for (int64_t i = 0; i < n * m && c.has_initial; ++i) states[0][i] = initial[1 + s * n * m + i];
      const auto a = [&](int64_t t, int64_t i, int64_t k) {
        return ((c.matrices ? which[t] : t) * n + i) * n + k;  // index of A_t[i, k]
      };
      for (int64_t t = begin; t < end; ++t) {
        std::vector<double> state(n * m, 0);
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < m; ++j) {
            if (c.has_input) state[i * m + j] = B[1 + (t * n + i) * m + j];
            for (int64_t k = 0; k < n; ++k) state[i * m + j] += A[1 + a(t, i, k)] * states.back()[k * m + j];
            near("S", S, (t * n + i) * m + j, state[i * m + j]);
          }
        }
        states.push_back(state);
      }
      std::vector<double> gradient(n * m, 0);  // of S_t
      for (int64_t t = end - 1; t >= begin; --t) {
        std::vector<double> before(n * m, 0);
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < m; ++j) {
            gradient[i * m + j] += d_S[1 + (t * n + i) * m + j];
            near("d_B", d_B, (t * n + i) * m + j, gradient[i * m + j]);
            for (int64_t k = 0; k < n; ++k) {
              before[k * m + j] += A[1 + a(t, i, k)] * gradient[i * m + j];
              gradient_A[a(t, i, k)] += gradient[i * m + j] * states[t - begin][k * m + j];
            }
          }
        }
        gradient = before;
      }
      for (int64_t i = 0; i < n * m && c.has_initial; ++i) near("d_initial", d_initial, s * n * m + i, gradient[i]);
    }
    for (size_t i = 0; i < gradient_A.size(); ++i) near("d_A", d_A, static_cast<int64_t>(i), gradient_A[i]);
  }

  Case c;
  std::vector<int32_t> cu_seqlens{0};
  std::vector<int64_t> which;
  std::vector<T> A, B, initial, d_S, S, d_A, d_B, d_initial;
};

TYPED_TEST(MatrixScanTest, IsTheRecurrenceInEveryTarget) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (int64_t n : {1, 2, 5, 8, 13}) {
      for (int64_t m : {int64_t{1}, int64_t{3}, n}) {
        for (int64_t matrices : {0, 3}) {
          for (bool has_input : {false, true}) {
            Problem<TypeParam> problem({{1, 0, 2, 9}, n, m, matrices, has_input, !has_input || matrices == 0});
            problem.Run(1);
            problem.ExpectRecurrence();
          }
        }
      }
    }
  });
}

TYPED_TEST(MatrixScanTest, MatricesOfManyTokensAndThreads) {
  for (int64_t matrices : {0, 4}) {
    Problem<TypeParam> one({{400, 3, 0, 350}, 6, 6, matrices, true, true}), many = one;
    one.Run(1);
    one.ExpectRecurrence();
    many.Run(3);
    const auto tail = [](const std::vector<TypeParam>& v) { return std::vector<TypeParam>(v.begin() + 1, v.end()); };
    EXPECT_EQ(tail(one.S), tail(many.S));
    EXPECT_EQ(tail(one.d_A), tail(many.d_A));
    EXPECT_EQ(tail(one.d_B), tail(many.d_B));
    EXPECT_EQ(tail(one.d_initial), tail(many.d_initial));
  }
}

TYPED_TEST(MatrixScanTest, AStreamInPlace) {
  Problem<TypeParam> whole({{6}, 5, 2, 3, false, true});
  whole.Run(1);
  const int32_t one_token[] = {0, 1};
  std::vector<TypeParam> state(whole.initial.begin() + 1, whole.initial.begin() + 1 + 10);
  for (int64_t t = 0; t < 6; ++t) {
    MatrixScan(
        {1, one_token, 5, 2},
        MatrixScanInputs<TypeParam>{
            .A = whole.A.data() + 1, .which = whole.which.data() + t, .matrices = 3, .initial_state = state.data()},
        state.data(), 1);
    for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(state[i], whole.S[1 + t * 10 + i]);
  }
}

TYPED_TEST(MatrixScanTest, NothingToDo) {
  for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{}, {0, 0}}) {
    Problem<TypeParam> problem({lengths, 3, 2, 2, true, true});
    problem.Run(2);
    problem.ExpectRecurrence();
  }
}

}  // namespace
}  // namespace lrnn::kernels
