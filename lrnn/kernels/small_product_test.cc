#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/small_product_test.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/small_product-inl.h"

#ifndef LRNN_KERNELS_SMALL_PRODUCT_TEST_ONCE_
#define LRNN_KERNELS_SMALL_PRODUCT_TEST_ONCE_
namespace lrnn::kernels {

struct ProductCall {
  ProductStart start;
  bool transposed_A;
  ProductPart part;
  int64_t M, N, L;
  const float *A, *B, *scale;
  float* C;
};

}  // namespace lrnn::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

template <ProductStart kStart>
void Run(const ProductCall& c) {
  c.transposed_A ? Product<kStart, true>(c.part, c.M, c.N, c.L, c.A, c.M, c.B, c.N, c.C, c.N, c.scale)
                 : Product<kStart, false>(c.part, c.M, c.N, c.L, c.A, c.L, c.B, c.N, c.C, c.N, c.scale);
}

void RunProduct(const ProductCall& call) {
  switch (call.start) {
    case ProductStart::kZero:
      return Run<ProductStart::kZero>(call);
    case ProductStart::kAdd:
      return Run<ProductStart::kAdd>(call);
    case ProductStart::kScaleRows:
      return Run<ProductStart::kScaleRows>(call);
  }
}

int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())); }

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/test_values.h"

namespace lrnn::kernels {

HWY_EXPORT(RunProduct);
HWY_EXPORT(Lanes);

namespace {

using Numbers = hwy::AlignedFreeUniquePtr<float[]>;

// Where a vector starts, as B has to.
Numbers AlignedNormals(int64_t count, uint64_t stream) {
  Numbers numbers = hwy::AllocateAligned<float>(std::max<int64_t>(1, count));
  std::ranges::copy(Normals<float>(count, stream), numbers.get());
  return numbers;
}

bool IsInTriangle(ProductPart part, int64_t row, int64_t column) {
  return part == ProductPart::kLowerA ? column <= row : part != ProductPart::kUpperA || column >= row;
}

void ExpectScalarLoop(ProductStart start, bool transposed_A, ProductPart part, int64_t M, int64_t vectors, int64_t L) {
  const int64_t N = vectors * HWY_DYNAMIC_DISPATCH(Lanes)();
  const Numbers A = AlignedNormals(M * L, 1), B = AlignedNormals(L * N, 2), C = AlignedNormals(M * N, 3),
                scale = AlignedNormals(M, 4);
  const auto at = [&](int64_t m, int64_t l) -> float& { return A[transposed_A ? l * M + m : m * L + l]; };
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t l = 0; l < L; ++l) {
      if (!IsInTriangle(part, m, l)) at(m, l) = 0;
    }
  }
  std::vector<double> expected(M * N);
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      const double before = C[m * N + n];
      double sum = start == ProductStart::kZero ? 0 : start == ProductStart::kAdd ? before : scale[m] * before;
      for (int64_t l = 0; l < L; ++l) sum += double{at(m, l)} * B[l * N + n];
      expected[m * N + n] = sum;
    }
  }
  for (int64_t i = 0; i < M * N && start == ProductStart::kZero; ++i) C[i] = NAN;
  HWY_DYNAMIC_DISPATCH(RunProduct)({start, transposed_A, part, M, N, L, A.get(), B.get(), scale.get(), C.get()});
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      if (part == ProductPart::kLowerC && n > m) continue;  // may be left out
      ASSERT_NEAR(C[m * N + n], expected[m * N + n], 1e-5 * (1 + std::abs(expected[m * N + n])) * std::sqrt(L + 1))
          << M << " x " << L << ", " << L << " x " << N << ", row " << m << ", column " << n;
    }
  }
}

TEST(SmallProduct, EqualsAScalarLoopForEveryNumberOfRowsAndVectorsInEveryTarget) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (const auto start : {ProductStart::kZero, ProductStart::kAdd, ProductStart::kScaleRows}) {
      for (const bool transposed : {false, true}) {
        for (int64_t M = 0; M <= 33; ++M) {
          for (const int64_t vectors : {1, 2, 3, 4, 5}) {
            ExpectScalarLoop(start, transposed, ProductPart::kFull, M, vectors, M % 7);
          }
        }
      }
    }
  });
}

TEST(SmallProduct, TrianglesTakeTheElementsThatAreNotZero) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (int64_t M = 1; M <= 19; ++M) {
      for (const int64_t vectors : {1, 2}) {
        ExpectScalarLoop(ProductStart::kZero, false, ProductPart::kLowerA, M, vectors, M);
        ExpectScalarLoop(ProductStart::kAdd, true, ProductPart::kUpperA, M, vectors, M);
        ExpectScalarLoop(ProductStart::kZero, false, ProductPart::kLowerC, M, vectors, 5);
      }
    }
  });
}

}  // namespace
}  // namespace lrnn::kernels
#endif  // HWY_ONCE
