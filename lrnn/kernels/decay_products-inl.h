// Products of decays over ranges of the tokens of a chunk, in the three forms of DecayProducts, compiled once for each
// SIMD target.
//
//   prefix_i = a_0 ... a_i        suffix_j = a_{j+1} ... a_{n-1}        range_ij = a_{j+1} ... a_i,  range_jj = 1
//
// Each is carried from token to token and never divided by another. In the logarithmic forms a product is 2^(sum of
// log2|a|) with the sign of an odd number of negative factors; a factor 0 has logarithm -inf, and the product is 0 from
// there on.

#include <cstdint>
#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/selective_scan_math-inl.h"

#if defined(LRNN_KERNELS_DECAY_PRODUCTS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DECAY_PRODUCTS_INL_
#undef LRNN_KERNELS_DECAY_PRODUCTS_INL_
#else
#define LRNN_KERNELS_DECAY_PRODUCTS_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A product that grows by one factor at a time, one in each lane.
template <DecayProducts kForm, typename T>
struct RunningProduct {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  static HWY_INLINE RunningProduct One() { return {hn::Set(D(), T(kForm == DecayProducts::kDirect)), hn::Zero(D())}; }

  // `log` = log2|a| is read by the logarithmic forms only.
  HWY_INLINE void Multiply(V a, V log) {
    if constexpr (kForm == DecayProducts::kDirect) {
      magnitude = hn::Mul(magnitude, a);
    } else {
      magnitude = hn::Add(magnitude, log);
      if constexpr (kForm == DecayProducts::kSignedLog) sign = hn::Xor(sign, hn::And(a, hn::SignBit(D())));
    }
  }

  HWY_INLINE V Value() const {
    if constexpr (kForm == DecayProducts::kDirect) {
      return magnitude;
    } else {
      const V value = Exp2<false>(D(), magnitude);
      return kForm == DecayProducts::kSignedLog ? hn::Or(value, sign) : value;
    }
  }

  V magnitude;  // the product itself, or log2 of its magnitude
  V sign;       // the sign bit, and nothing else
};

// log2|a| of `count` numbers, a multiple of the lanes; -inf for 0.
template <typename T>
HWY_NOINLINE void DecayLogs(int64_t count, const T* HWY_RESTRICT a, T* HWY_RESTRICT log) {
  const hn::ScalableTag<T> d;
  const auto none = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto x = hn::Abs(hn::Load(d, a + i));
    hn::Store(hn::IfThenElse(hn::Eq(x, hn::Zero(d)), none, hn::Log2(d, x)), d, log + i);
  }
}

// One decay a token, a: [n].   prefix: [n]   range: [n, stride], its lower triangle with the diagonal; elements right
// of it are 0 up to the end of their vector, the vectors after that are not written. (suffix = the last row of range.)
template <DecayProducts kForm, typename T>
HWY_NOINLINE void ScalarDecayProducts(int64_t n, const T* HWY_RESTRICT a, const T* HWY_RESTRICT log,
                                      T* HWY_RESTRICT prefix, T* HWY_RESTRICT range, int64_t stride) {
  const hn::ScalableTag<T> d;
  auto all = RunningProduct<kForm, T>::One();
  for (int64_t i = 0; i < n; ++i) {
    all.Multiply(hn::Set(d, a[i]), hn::Set(d, log[i]));
    prefix[i] = hn::GetLane(all.Value());
  }
  for (int64_t j = 0; j < n; j += static_cast<int64_t>(hn::Lanes(d))) {
    const auto column = hn::Iota(d, static_cast<T>(j));
    const auto one = RunningProduct<kForm, T>::One();
    RunningProduct<kForm, T> product = one;
    for (int64_t i = j; i < n; ++i) {
      const auto row = hn::Set(d, static_cast<T>(i));
      const auto before = hn::Lt(column, row);
      product.Multiply(hn::Set(d, a[i]), hn::Set(d, log[i]));
      // Lanes whose first token is still to come stay at 1.
      product.magnitude = hn::IfThenElse(before, product.magnitude, one.magnitude);
      if constexpr (kForm == DecayProducts::kSignedLog) product.sign = hn::IfThenElseZero(before, product.sign);
      hn::Store(hn::IfThenElseZero(hn::Le(column, row), product.Value()), d, range + i * stride + j);
    }
  }
}

// One decay for each of `width` channels (a multiple of the lanes).   a, log, prefix, suffix: [n, width]
template <DecayProducts kForm, typename T>
HWY_NOINLINE void ChannelDecayProducts(int64_t n, int64_t width, const T* HWY_RESTRICT a, const T* HWY_RESTRICT log,
                                       T* HWY_RESTRICT prefix, T* HWY_RESTRICT suffix) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    const auto multiply = [&](RunningProduct<kForm, T>& product, int64_t i) HWY_ATTR {
      product.Multiply(hn::Load(d, a + i * width + c), hn::Load(d, log + i * width + c));
    };
    auto product = RunningProduct<kForm, T>::One();
    for (int64_t i = 0; i < n; ++i) {
      multiply(product, i);
      hn::Store(product.Value(), d, prefix + i * width + c);
    }
    product = RunningProduct<kForm, T>::One();
    for (int64_t j = n - 1; j >= 0; --j) {
      hn::Store(product.Value(), d, suffix + j * width + c);
      multiply(product, j);
    }
  }
}

// decayed_i = range_ij k_j for i = j .. n-1: what is left of key j at each later token.   a, log, decayed: [n, width]
template <DecayProducts kForm, typename T>
HWY_NOINLINE void DecayedKeys(int64_t j, int64_t n, int64_t width, const T* HWY_RESTRICT k, const T* HWY_RESTRICT a,
                              const T* HWY_RESTRICT log, T* HWY_RESTRICT decayed) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    const auto key = hn::Load(d, k + c);
    hn::Store(key, d, decayed + j * width + c);
    auto product = RunningProduct<kForm, T>::One();
    if constexpr (kForm == DecayProducts::kDirect) product.magnitude = key;
    for (int64_t i = j + 1; i < n; ++i) {
      product.Multiply(hn::Load(d, a + i * width + c), hn::Load(d, log + i * width + c));
      const auto value = kForm == DecayProducts::kDirect ? product.Value() : hn::Mul(key, product.Value());
      hn::Store(value, d, decayed + i * width + c);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
