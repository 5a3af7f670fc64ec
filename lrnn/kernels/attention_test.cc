// The kernel against softmax attention as scalar loops, in every SIMD target.
#include "lrnn/kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class AttentionTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionTest, Types);

struct Case {
  std::vector<int64_t> queries;
  std::vector<int64_t> past;  // keys before the queries'
  int64_t H, K, V;
  double size = 1;  // of the scores
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.queries.size() << " sequences, H " << c.H << " K " << c.K << " V " << c.V << " size " << c.size;
}

// q and k as slices of one wider matrix, arrays one element off a vector's alignment; what is written starts as NaN.
template <typename T>
struct Problem {
  explicit Problem(const Case& c) : c(c) {
    for (size_t i = 0; i < c.queries.size(); ++i) {
      cu_queries.push_back(cu_queries.back() + static_cast<int32_t>(c.queries[i]));
      cu_keys.push_back(cu_keys.back() + static_cast<int32_t>(c.queries[i] + c.past[i]));
    }
    q = Normals(cu_queries.back() * q_stride(), 0, c.size), k = Normals(cu_keys.back() * c.H * c.K, 1, 1);
    v = Normals(cu_keys.back() * c.H * c.V, 2, 1), d_o = Normals(cu_queries.back() * c.H * c.V, 3, 1);
    o = Nans(cu_queries.back() * c.H * c.V), log_sums = Nans(cu_queries.back() * c.H);
    d_q = Nans(cu_queries.back() * c.H * c.K), d_k = Nans(cu_keys.back() * c.H * c.K);
    d_v = Nans(cu_keys.back() * c.H * c.V);
  }

  static std::vector<T> Normals(int64_t count, uint64_t stream, double scale) {
    Rng rng(5, stream);
    std::vector<T> values(count + 1);
    for (T& value : values) value = static_cast<T>(scale * rng.Normal());
    return values;
  }
  static std::vector<T> Nans(int64_t count) { return std::vector<T>(count + 1, std::numeric_limits<T>::quiet_NaN()); }

  int64_t q_stride() const { return c.H * c.K + 3; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(c.K)); }

  void Run(int threads) {
    const AttentionShape shape{
        static_cast<int64_t>(c.queries.size()), cu_queries.data(), cu_keys.data(), c.H, c.K, c.V};
    const AttentionInputs<T> in{q.data() + 1, q_stride(), k.data() + 1,           c.H * c.K,
                                v.data() + 1, c.H * c.V,  static_cast<T>(scale())};
    Attention(shape, in, o.data() + 1, log_sums.data() + 1, threads);
    AttentionBackward(shape, in, o.data() + 1, log_sums.data() + 1, d_o.data() + 1,
                      {d_q.data() + 1, d_k.data() + 1, d_v.data() + 1}, threads);
  }

  void ExpectSoftmax() const {
    SCOPED_TRACE(c);
    const int64_t H = c.H, K = c.K, V = c.V;
    std::vector<double> want_q(d_q.size() - 1), want_k(d_k.size() - 1), want_v(d_v.size() - 1);
    const double tolerance = 1000 * std::numeric_limits<T>::epsilon();
    for (size_t n = 0; n < c.queries.size(); ++n) {
      for (int64_t i = 0; i < c.queries[n]; ++i) {
        for (int64_t h = 0; h < H; ++h) {
          const int64_t query = cu_queries[n] + i, keys = c.past[n] + i + 1;
          const auto key = [&](int64_t j) { return (cu_keys[n] + j) * H + h; };
          const T* const row = q.data() + 1 + query * q_stride() + h * K;
          std::vector<double> p(keys);
          double greatest = -1e300, sum = 0, mean = 0;
          for (int64_t j = 0; j < keys; ++j) {
            for (int64_t e = 0; e < K; ++e) p[j] += scale() * row[e] * k[1 + key(j) * K + e];
            greatest = std::max(greatest, p[j]);
          }
          for (double& x : p) sum += x = std::exp(x - greatest);
          for (double& x : p) x /= sum;
          ASSERT_NEAR(log_sums[1 + query * H + h], greatest + std::log(sum), tolerance * (1 + std::abs(greatest)));
          const auto d_out = [&](int64_t e) { return double{d_o[1 + (query * H + h) * V + e]}; };
          std::vector<double> d_p(keys);
          for (int64_t e = 0; e < V; ++e) {
            double out = 0;
            for (int64_t j = 0; j < keys; ++j) {
              out += p[j] * v[1 + key(j) * V + e];
              d_p[j] += d_out(e) * v[1 + key(j) * V + e];
              want_v[key(j) * V + e] += p[j] * d_out(e);
            }
            ASSERT_NEAR(o[1 + (query * H + h) * V + e], out, tolerance) << "query " << query;
          }
          for (int64_t j = 0; j < keys; ++j) mean += p[j] * d_p[j];
          for (int64_t j = 0; j < keys; ++j) {
            const double d_score = scale() * p[j] * (d_p[j] - mean);
            for (int64_t e = 0; e < K; ++e) {
              want_q[(query * H + h) * K + e] += d_score * k[1 + key(j) * K + e];
              want_k[key(j) * K + e] += d_score * row[e];
            }
          }
        }
      }
    }
    const auto near = [&](const char* name, const std::vector<T>& got, const std::vector<double>& want) {
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(got[1 + i], want[i], tolerance * (1 + std::abs(want[i]))) << name << " element " << i;
      }
    };
    near("d_q", d_q, want_q);
    near("d_k", d_k, want_k);
    near("d_v", d_v, want_v);
  }

  Case c;
  std::vector<int32_t> cu_queries{0}, cu_keys{0};
  std::vector<T> q, k, v, d_o, o, log_sums, d_q, d_k, d_v;
};

TYPED_TEST(AttentionTest, IsSoftmaxInEveryTarget) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (const Case& c : {Case{{1}, {0}, 1, 1, 1}, Case{{3, 0, 33, 1}, {0, 0, 0, 70}, 2, 5, 3},
                          Case{{65, 40}, {0, 31}, 1, 16, 9}, Case{{0, 2}, {7, 63}, 3, 8, 8}}) {
      Problem<TypeParam> problem(c);
      problem.Run(1);
      problem.ExpectSoftmax();
    }
  });
}

// Scores of some hundreds: their exponentials would overflow, and all but the greatest vanish.
TYPED_TEST(AttentionTest, LargeScores) {
  Problem<TypeParam> problem({{70}, {5}, 1, 4, 3, 100});
  problem.Run(1);
  for (size_t i = 1; i < problem.o.size(); ++i) ASSERT_TRUE(std::isfinite(problem.o[i]));
  for (size_t i = 1; i < problem.d_q.size(); ++i) ASSERT_TRUE(std::isfinite(problem.d_q[i]));
  if (sizeof(TypeParam) == 8) problem.ExpectSoftmax();
}

TYPED_TEST(AttentionTest, ThreadsDoNotChangeABit) {
  Problem<TypeParam> one({{90, 3, 0, 70, 40}, {0, 1, 2, 3, 4}, 3, 7, 6}), many = one;
  one.Run(1);
  one.ExpectSoftmax();
  many.Run(3);
  const auto tail = [](const std::vector<TypeParam>& x) { return std::vector<TypeParam>(x.begin() + 1, x.end()); };
  EXPECT_EQ(tail(one.o), tail(many.o));
  EXPECT_EQ(tail(one.d_q), tail(many.d_q));
  EXPECT_EQ(tail(one.d_k), tail(many.d_k));
  EXPECT_EQ(tail(one.d_v), tail(many.d_v));
}

TYPED_TEST(AttentionTest, NothingToDo) {
  Problem<TypeParam> problem({{}, {}, 2, 3, 3});
  problem.Run(2);
  problem.ExpectSoftmax();
}

}  // namespace
}  // namespace lrnn::kernels
