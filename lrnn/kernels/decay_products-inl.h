// Products of decays over ranges of the tokens of a chunk, compiled once for each SIMD target.
//
//   prefix_i = a_0 ... a_i        suffix_j = a_{j+1} ... a_{n-1}        range_ij = a_{j+1} ... a_i,  range_jj = 1
//
// Each is carried from token to token and never divided by another. kForm says how: by multiplication (kChunked), or as
// 2^(sum of log2|a|) times a sign. With s_i = the sign of a_0 ... a_i, a parity, range_ij has the sign s_i s_j: one
// factor for each end, however long the range. A factor 0 has logarithm -inf, and the product is 0 from there on.

#include <cmath>
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

template <LinearAttentionForm kForm>
inline constexpr bool kInLogSpace = kForm != LinearAttentionForm::kChunked;

// The logarithms and parities of a chunk's decays; neither is read in the form that multiplies.
template <typename T>
struct DecayLogs {
  T* log;   // log2|a_i|
  T* sign;  // the sign bit of a_0 ... a_i and no other: 0.0 or -0.0. Read for kSignedLog only.
};

// A product that grows by one factor at a time, one in each lane; without its sign in log-space.
template <LinearAttentionForm kForm, typename T>
struct RunningProduct {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  static HWY_INLINE RunningProduct One() { return {hn::Set(D(), T(!kInLogSpace<kForm>))}; }

  HWY_INLINE void Multiply(V a, V log) { value = kInLogSpace<kForm> ? hn::Add(value, log) : hn::Mul(value, a); }

  HWY_INLINE V Value() const {
    if constexpr (kInLogSpace<kForm>) {
      return Exp2<false>(D(), value);
    } else {
      return value;
    }
  }

  V value;  // the product, or log2 of its magnitude
};

// x with the sign bit flipped where `sign` has it, if the form has signs.
template <LinearAttentionForm kForm, typename V>
HWY_INLINE V WithSign(V x, V sign) {
  return kForm == LinearAttentionForm::kSignedLog ? hn::Xor(x, sign) : x;
}

// Fills in the logarithms and, for kSignedLog, the parities of a: [n, width]. The width is 1 or whole vectors; one
// number a token is padded to whole vectors over the tokens.
template <LinearAttentionForm kForm, typename T>
HWY_NOINLINE void TakeDecayLogs(int64_t n, int64_t width, const T* HWY_RESTRICT a, const DecayLogs<T>& logs) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto none = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int64_t i = 0; i < n * width; i += lanes) {
    const auto x = hn::Abs(hn::Load(d, a + i));
    hn::Store(hn::IfThenElse(hn::Eq(x, hn::Zero(d)), none, hn::Log2(d, x)), d, logs.log + i);
  }
  if constexpr (kForm != LinearAttentionForm::kSignedLog) return;
  if (width == 1) {
    T sign = 0;
    for (int64_t i = 0; i < n; ++i) logs.sign[i] = sign = std::signbit(a[i]) ? -sign : sign;
  } else {
    for (int64_t c = 0; c < width; c += lanes) {
      auto sign = hn::Zero(d);
      for (int64_t i = c; i < n * width; i += width) {
        sign = hn::Xor(sign, hn::And(hn::Load(d, a + i), hn::SignBit(d)));
        hn::Store(sign, d, logs.sign + i);
      }
    }
  }
}

// One decay a token, a: [n].   prefix: [n]   range: [n, stride], its lower triangle with the diagonal; elements right
// of it are 0 up to the end of their vector, the vectors after that are not written. (suffix = the last row of range.)
template <LinearAttentionForm kForm, typename T>
HWY_NOINLINE void ScalarDecayProducts(int64_t n, const T* HWY_RESTRICT a, const DecayLogs<T>& logs,
                                      T* HWY_RESTRICT prefix, T* HWY_RESTRICT range, int64_t stride) {
  const hn::ScalableTag<T> d;
  const auto multiply = [&](RunningProduct<kForm, T>& product, int64_t i)
                            HWY_ATTR { product.Multiply(hn::Set(d, a[i]), hn::Set(d, logs.log[i])); };
  const auto one = RunningProduct<kForm, T>::One();
  RunningProduct<kForm, T> product = one;
  for (int64_t i = 0; i < n; ++i) {
    multiply(product, i);
    prefix[i] = hn::GetLane(WithSign<kForm>(product.Value(), hn::Set(d, logs.sign[i])));
  }
  for (int64_t j = 0; j < n; j += static_cast<int64_t>(hn::Lanes(d))) {
    const auto column = hn::Iota(d, static_cast<T>(j)), column_sign = hn::Load(d, logs.sign + j);
    product = one;
    for (int64_t i = j; i < n; ++i) {
      const auto row = hn::Set(d, static_cast<T>(i));
      multiply(product, i);
      // Lanes whose first token is still to come stay at 1.
      product.value = hn::IfThenElse(hn::Lt(column, row), product.value, one.value);
      const auto sign = hn::Xor(hn::Set(d, logs.sign[i]), column_sign);
      const auto value = WithSign<kForm>(product.Value(), sign);
      hn::Store(hn::IfThenElseZero(hn::Le(column, row), value), d, range + i * stride + j);
    }
  }
}

// One decay for each of `width` channels (a multiple of the lanes).   a, prefix, suffix: [n, width]
template <LinearAttentionForm kForm, typename T>
HWY_NOINLINE void ChannelDecayProducts(int64_t n, int64_t width, const T* HWY_RESTRICT a, const DecayLogs<T>& logs,
                                       T* HWY_RESTRICT prefix, T* HWY_RESTRICT suffix) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    const auto multiply = [&](RunningProduct<kForm, T>& product, int64_t i) HWY_ATTR {
      product.Multiply(hn::Load(d, a + i * width + c), hn::Load(d, logs.log + i * width + c));
    };
    const auto sign = [&](int64_t i) HWY_ATTR { return hn::Load(d, logs.sign + i * width + c); };
    auto product = RunningProduct<kForm, T>::One();
    for (int64_t i = 0; i < n; ++i) {
      multiply(product, i);
      hn::Store(WithSign<kForm>(product.Value(), sign(i)), d, prefix + i * width + c);
    }
    product = RunningProduct<kForm, T>::One();
    for (int64_t j = n - 1; j >= 0; --j) {
      hn::Store(WithSign<kForm>(product.Value(), hn::Xor(sign(j), sign(n - 1))), d, suffix + j * width + c);
      multiply(product, j);
    }
  }
}

// decayed_i = range_ij k_j for i = j .. n-1: what is left of key j at each later token.   a, decayed: [n, width]
template <LinearAttentionForm kForm, typename T>
HWY_NOINLINE void DecayedKeys(int64_t j, int64_t n, int64_t width, const T* HWY_RESTRICT k, const T* HWY_RESTRICT a,
                              const DecayLogs<T>& logs, T* HWY_RESTRICT decayed) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    const auto key = hn::Load(d, k + c);
    const auto signed_key = WithSign<kForm>(key, hn::Load(d, logs.sign + j * width + c));
    hn::Store(key, d, decayed + j * width + c);
    auto product = RunningProduct<kForm, T>::One();
    if constexpr (!kInLogSpace<kForm>) product.value = key;
    for (int64_t i = j + 1; i < n; ++i) {
      product.Multiply(hn::Load(d, a + i * width + c), hn::Load(d, logs.log + i * width + c));
      auto value = product.Value();
      if constexpr (kInLogSpace<kForm>) value = hn::Mul(value, signed_key);
      hn::Store(WithSign<kForm>(value, hn::Load(d, logs.sign + i * width + c)), d, decayed + i * width + c);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
