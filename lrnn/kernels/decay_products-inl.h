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

// One decay for each of `width` channels (a multiple of the lanes), tokens begin .. end-1 of a, x, factor, to: [n,
// width]. What tokens read of the state before `begin`:   factor_i = a_begin ... a_i,   to_i = factor_i x_i.
template <LinearAttentionForm kForm, typename T>
HWY_NOINLINE void DecayFromBegin(int64_t begin, int64_t end, int64_t width, const T* HWY_RESTRICT a,
                                 const DecayLogs<T>& logs, const T* HWY_RESTRICT x, T* HWY_RESTRICT factor,
                                 T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    auto product = RunningProduct<kForm, T>::One();
    const auto sign_before = begin > 0 ? hn::Load(d, logs.sign + (begin - 1) * width + c) : hn::Zero(d);
    for (int64_t at = begin * width + c; at < end * width; at += width) {
      product.Multiply(hn::Load(d, a + at), hn::Load(d, logs.log + at));
      const auto value = WithSign<kForm>(product.Value(), hn::Xor(hn::Load(d, logs.sign + at), sign_before));
      hn::Store(value, d, factor + at);
      hn::Store(hn::Mul(value, hn::Load(d, x + at)), d, to + at);
    }
  }
}

// What tokens leave in the state after `end` - 1:   factor_j = a_{j+1} ... a_{end-1},   to_j = factor_j x_j.
template <LinearAttentionForm kForm, typename T>
HWY_NOINLINE void DecayToEnd(int64_t begin, int64_t end, int64_t width, const T* HWY_RESTRICT a,
                             const DecayLogs<T>& logs, const T* HWY_RESTRICT x, T* HWY_RESTRICT factor,
                             T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    auto product = RunningProduct<kForm, T>::One();
    const auto sign_end = hn::Load(d, logs.sign + (end - 1) * width + c);
    for (int64_t at = (end - 1) * width + c; at >= begin * width; at -= width) {
      const auto value = WithSign<kForm>(product.Value(), hn::Xor(hn::Load(d, logs.sign + at), sign_end));
      hn::Store(value, d, factor + at);
      hn::Store(hn::Mul(value, hn::Load(d, x + at)), d, to + at);
      product.Multiply(hn::Load(d, a + at), hn::Load(d, logs.log + at));
    }
  }
}

// A vector of channels of one key, as it is left at later tokens:  x <- a x, token by token. `at` is the place of those
// channels of a token in a: [n, width].
template <LinearAttentionForm kForm, typename T>
class DecayingKey {
 public:
  using V = hn::Vec<hn::ScalableTag<T>>;

  HWY_INLINE DecayingKey(V key, const DecayLogs<T>& logs, int64_t at)
      : key_(WithSign<kForm>(key, hn::Load(D(), logs.sign + at))), product_(RunningProduct<kForm, T>::One()) {
    if constexpr (!kInLogSpace<kForm>) product_.value = key;
  }

  HWY_INLINE V Next(const T* a, const DecayLogs<T>& logs, int64_t at) {
    product_.Multiply(hn::Load(D(), a + at), hn::Load(D(), logs.log + at));
    if constexpr (!kInLogSpace<kForm>) return product_.value;
    return WithSign<kForm>(hn::Mul(product_.Value(), key_), hn::Load(D(), logs.sign + at));
  }

 private:
  using D = hn::ScalableTag<T>;
  V key_;  // with the sign of all decays up to its token
  RunningProduct<kForm, T> product_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
