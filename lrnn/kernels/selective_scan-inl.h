// Selective scan, the part compiled once per SIMD target: one task = one group of sequences x one tile of channels.
//
// Lanes are channels. A vector of channels walks through a block of up to 16 tokens for two states at a time: their h,
// A and gradients stay in registers, and dt, dt * u and y of the block in L1. exp(dt A) is computed as 2^(dt A'), where
// A' = A / ln 2. Gradients: docs/math/selective_scan.md.

#if defined(LRNN_KERNELS_SELECTIVE_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_SELECTIVE_SCAN_INL_H_
#undef LRNN_KERNELS_SELECTIVE_SCAN_INL_H_
#else
#define LRNN_KERNELS_SELECTIVE_SCAN_INL_H_
#endif

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "lrnn/kernels/selective_scan.h"
#include "lrnn/kernels/selective_scan_plan.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using ChannelTag = hn::CappedTag<Real, kSelectiveScanLanes>;

inline constexpr int64_t kBlock = kSelectiveScanBlock;

// c0 + x (c1 + x (c2 + ...))
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Horner(D d, V /*x*/, double c0) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(c0));
}
template <class D, class V = hn::Vec<D>, typename... Coefficients>
HWY_INLINE V Horner(D d, V x, double c0, Coefficients... rest) {
  return hn::MulAdd(Horner(d, x, rest...), x, Horner(d, x, c0));
}

// Added to a number below 2^22 (2^51), this leaves the number's nearest integer in the low bits of the sum.
template <typename Real>
inline constexpr Real kRound = sizeof(Real) == 4 ? Real(12582912.0) : Real(6755399441055744.0);

// 2^(n + r) for |r| <= 1/2 and the integer n in the low bits of `rounded`; exactly 2^n at r = 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Power(D d, V rounded, V r) {
  const hn::RebindToSigned<D> di;
  // 1 + r q(r), q the Chebyshev interpolation of (2^r - 1) / r: relative error 5e-9 or 8e-18.
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const V p = Horner(d, r, 1, 0.69314718802622877, 0.24022650760568126, 0.055503571142190782, 0.0096180825572778524,
                       0.0013390863364671234, 0.00015453162945120691);
    return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, rounded))));
  } else {
    const V p = Horner(d, r, 1, 0.69314718055994529, 0.24022650695910097, 0.055504108664821597, 0.0096181291076068882,
                       0.0013333558146416936, 0.0001540353044173605, 1.5252733829836119e-05, 1.3215442587921689e-06,
                       1.0178062445845774e-07, 7.0725859492692234e-09, 4.4549605981865186e-10);
    return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<52>(hn::BitCast(di, rounded))));
  }
}

// 2^x for kExtended = false, 2 * 2^x for true (at no cost: the factor is in the constant that rounds x). Exactly 1 or 2
// at x = 0 and infinite on overflow; below the normal numbers it is off by less than the smallest of them and soon
// exactly 0. A NaN becomes infinite on x86.
template <bool kExtended, class D, class V = hn::Vec<D>>
HWY_INLINE V Exp2(D d, V x) {
  using Real = hn::TFromD<D>;
  constexpr Real kHighest = sizeof(Real) == 4 ? 128 : 1024;  // its exponent bits are those of infinity
  constexpr Real kLowest = 1 - kHighest;                     // its exponent bits are those of 0
  x = hn::Min(x, hn::Set(d, kHighest - Real(kExtended)));
  x = hn::Max(x, hn::Set(d, kLowest - Real(kExtended)));
  const V round = hn::Set(d, kRound<Real> + Real(kExtended));
  const V rounded = hn::Add(x, round);
  return Power(d, rounded, hn::Sub(x, hn::Sub(rounded, round)));
}

// e^x for x <= 0, with small relative error for all of them; 0 where it would not be a normal number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOfNegative(D d, V x) {
  using Real = hn::TFromD<D>;
  constexpr bool kFloat = sizeof(Real) == 4;
  const V log2e = hn::Set(d, Real(1.4426950408889634));
  const V round = hn::Set(d, kRound<Real>);
  const V rounded = hn::MulAdd(x, log2e, round);
  const V n = hn::Sub(rounded, round);
  // x - n ln 2 in two parts, n times the first of which is exact.
  V r = hn::NegMulAdd(n, hn::Set(d, Real(kFloat ? 0.693145751953125 : 0.6931471805596629565)), x);
  r = hn::NegMulAdd(n, hn::Set(d, Real(kFloat ? 1.428606820309417e-6 : 2.8235290563031577e-13)), r);
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, Real(kFloat ? -87 : -708))), Power(d, rounded, hn::Mul(r, log2e)));
}

// log(1 + e) for e in [0, 1], with small relative error: 2 atanh(s) for s = e / (2 + e), so s <= 1/3.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LogOfOnePlus(D d, V e) {
  using Real = hn::TFromD<D>;
  const V s = hn::Div(e, hn::Add(e, hn::Set(d, Real(2))));
  const V w = hn::Mul(s, s);
  // The Chebyshev interpolation of 2 atanh(s) / s in w: relative error 4e-9 or 5e-17.
  if constexpr (sizeof(Real) == 4) {
    return hn::Mul(s, Horner(d, w, 2.0000000076817588, 0.66666321641377768, 0.40024595230703747, 0.27965157745197267,
                             0.28157778363109082));
  } else {
    return hn::Mul(s, Horner(d, w, 2, 0.66666666666682572, 0.399999999952876, 0.28571429111657159, 0.22222190861346283,
                             0.18182859800473911, 0.15363676248891633, 0.13591305485579894, 0.098807890487647862,
                             0.17780763826113305));
  }
}

// value = softplus(x), slope = softplus'(x) = sigmoid(x); no overflow, and e^x itself where x is very negative.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Softplus(D d, V x, V& value, V& slope) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const auto negative = hn::Lt(x, hn::Zero(d));  // false for NaN, which Max may swallow
  const V e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
  value = hn::Add(hn::IfThenZeroElse(negative, x), LogOfOnePlus(d, e));
  const V s = hn::Div(one, hn::Add(one, e));
  slope = hn::IfThenElse(negative, hn::Mul(e, s), s);
}

// value = silu(z) = z sigmoid(z), slope = silu'(z).
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Silu(D d, V z, V& value, V& slope) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V e = ExpOfNegative(d, hn::Neg(hn::Abs(z)));
  const V r = hn::Div(one, hn::Add(one, e));
  const V s = hn::IfThenElse(hn::Lt(z, hn::Zero(d)), hn::Mul(e, r), r);
  value = hn::Mul(z, s);
  slope = hn::MulAdd(value, hn::Sub(one, s), s);
}

// Lanes `count` and up read as 0 and are not written: the last channels need not fill a vector.
template <class D, typename Real = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadChannels(D d, const Real* from, size_t count) {
  if (HWY_LIKELY(count == hn::Lanes(d))) return hn::LoadU(d, from);
  HWY_ALIGN Real lanes[kSelectiveScanLanes] = {};
  std::copy_n(from, count, lanes);
  return hn::Load(d, lanes);
}

template <class D, typename Real = hn::TFromD<D>>
HWY_INLINE void StoreChannels(hn::Vec<D> v, D d, Real* to, size_t count) {
  if (HWY_LIKELY(count == hn::Lanes(d))) return hn::StoreU(v, d, to);
  HWY_ALIGN Real lanes[kSelectiveScanLanes];
  hn::Store(v, d, lanes);
  std::copy_n(lanes, count, to);
}

// [count, N] rows of channels to [N, lanes] and back; missing lanes become 0.
template <class D, typename Real = hn::TFromD<D>>
void LoadTransposed(D d, const Real* HWY_RESTRICT from, size_t count, int64_t states, Real scale,
                    Real* HWY_RESTRICT to) {
  const size_t lanes = hn::Lanes(d);
  for (int64_t n = 0; n < states; ++n) {
    for (size_t i = 0; i < count; ++i) to[n * lanes + i] = scale * from[i * states + n];
    for (size_t i = count; i < lanes; ++i) to[n * lanes + i] = 0;
  }
}

template <class D, typename Real = hn::TFromD<D>>
void StoreTransposed(D d, const Real* HWY_RESTRICT from, size_t count, int64_t states, Real* HWY_RESTRICT to) {
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; ++i) {
    for (int64_t n = 0; n < states; ++n) to[i * states + n] = from[n * lanes + i];
  }
}

// Aligned arrays from one allocation, each a cache line off the last: arrays a multiple of 4 KiB apart look to the CPU
// as if a load waited for a store.
template <typename Real>
class Scratch {
 public:
  explicit Scratch(size_t elements, size_t arrays)
      : memory_(hwy::AllocateAligned<Real>(elements + arrays * kPad)), next_(memory_.get()) {}

  Real* Take(size_t elements) {
    Real* taken = next_;
    next_ += (elements + kLine - 1) / kLine * kLine + kLine;
    return taken;
  }

 private:
  static constexpr size_t kLine = 64 / sizeof(Real);
  static constexpr size_t kPad = 2 * kLine;

  hwy::AlignedFreeUniquePtr<Real[]> memory_;
  Real* next_;
};

// h_t = a_t h_{t-1} + input, with e = a_t or, kExtended, e = a_t + 1: the same number of operations.
template <bool kExtended, class V>
HWY_INLINE V NextState(V e, V h, V dx, V b) {
  if constexpr (kExtended) return hn::MulAdd(e, h, hn::MulSub(dx, b, h));
  return hn::MulAdd(e, h, hn::Mul(dx, b));
}

// What a block of tokens needs of one vector of channels, [tokens, lanes] each.
template <typename Real>
struct ForwardBlock {
  const Real* dt;
  const Real* dx;  // dt u
  Real* y;         // C . h is added
};

// States n .. n + kStates - 1 of `tokens` tokens; A (times 1 / ln 2) and h point to state n, B and C to row 0, state n.
template <bool kExtended, int kStates, class D, typename Real = hn::TFromD<D>>
HWY_INLINE void ForwardStates(D d, int64_t tokens, const ForwardBlock<Real>& block, const Real* HWY_RESTRICT A,
                              const Real* HWY_RESTRICT B, int64_t B_stride, const Real* HWY_RESTRICT C,
                              int64_t C_stride, Real* HWY_RESTRICT h) {
  const size_t lanes = hn::Lanes(d);
  constexpr int kSecond = kStates - 1;
  const auto A0 = hn::Load(d, A);
  const auto A1 = hn::Load(d, A + kSecond * lanes);
  auto h0 = hn::Load(d, h);
  auto h1 = hn::Load(d, h + kSecond * lanes);
  const Real* HWY_RESTRICT dt_row = block.dt;
  const Real* HWY_RESTRICT dx_row = block.dx;
  Real* HWY_RESTRICT y_row = block.y;
  for (int64_t t = 0; t < tokens; ++t, B += B_stride, C += C_stride, dt_row += lanes, dx_row += lanes, y_row += lanes) {
    const auto dt = hn::Load(d, dt_row);
    const auto dx = hn::Load(d, dx_row);
    h0 = NextState<kExtended>(Exp2<kExtended>(d, hn::Mul(dt, A0)), h0, dx, hn::Set(d, B[0]));
    auto y = hn::MulAdd(h0, hn::Set(d, C[0]), hn::Load(d, y_row));
    if constexpr (kStates == 2) {
      h1 = NextState<kExtended>(Exp2<kExtended>(d, hn::Mul(dt, A1)), h1, dx, hn::Set(d, B[1]));
      y = hn::MulAdd(h1, hn::Set(d, C[1]), y);
    }
    hn::Store(y, d, y_row);
  }
  hn::Store(h0, d, h);
  if constexpr (kStates == 2) hn::Store(h1, d, h + lanes);
}

template <bool kExtended, typename Real>
void ForwardTask(const SelectiveScanInputs<Real>& in, const SelectiveScanOutputs<Real>& out,
                 const SelectiveScanGroup& group, int64_t first_channel, int64_t end_channel) {
  const ChannelTag<Real> d;
  const int64_t lanes = hn::Lanes(d);
  const int64_t N = in.states;
  const int64_t width = (end_channel - first_channel + lanes - 1) / lanes * lanes;
  const int64_t saved_groups = (in.channels + kSelectiveScanLanes - 1) / kSelectiveScanLanes;

  Scratch<Real> scratch(2 * width * N + 4 * kBlock * lanes, 6);
  Real* A = scratch.Take(width * N);  // [vectors, N, lanes], times 1 / ln 2
  Real* h = scratch.Take(width * N);  // [vectors, N, lanes]
  Real* dt = scratch.Take(kBlock * lanes);
  Real* dx = scratch.Take(kBlock * lanes);
  Real* y = scratch.Take(kBlock * lanes);
  Real* gate = scratch.Take(kBlock * lanes);
  for (int64_t c = first_channel; c < end_channel; c += lanes) {
    LoadTransposed(d, in.A + c * N, std::min(lanes, end_channel - c), N, Real(1.4426950408889634),
                   A + (c - first_channel) * N);
  }

  int64_t saved = group.first_saved_state;
  for (int64_t s = group.first_sequence; s < group.end_sequence; ++s) {
    if (in.initial_state == nullptr) {
      std::fill_n(h, width * N, Real(0));
    } else {
      for (int64_t c = first_channel; c < end_channel; c += lanes) {
        LoadTransposed(d, in.initial_state + (s * in.channels + c) * N, std::min(lanes, end_channel - c), N, Real(1),
                       h + (c - first_channel) * N);
      }
    }
    for (int64_t begin = in.cu_seqlens[s], t0 = begin, end = in.cu_seqlens[s + 1]; t0 < end; t0 += kBlock) {
      const int64_t tokens = std::min(kBlock, end - t0);
      for (int64_t c = first_channel; c < end_channel; c += lanes) {
        const size_t count = std::min(lanes, end_channel - c);
        Real* HWY_RESTRICT h_c = h + (c - first_channel) * N;
        if (out.block_states != nullptr && t0 > begin) {
          Real* to = out.block_states + (saved * saved_groups + c / kSelectiveScanLanes) * N * kSelectiveScanLanes +
                     c % kSelectiveScanLanes;
          for (int64_t n = 0; n < N; ++n) {
            hn::StoreU(hn::Load(d, h_c + n * lanes), d, to + n * kSelectiveScanLanes);
          }
        }

        const auto zero = hn::Zero(d);
        const auto D = in.D == nullptr ? zero : LoadChannels(d, in.D + c, count);
        const auto bias = in.delta_bias == nullptr ? zero : LoadChannels(d, in.delta_bias + c, count);
        for (int64_t t = 0; t < tokens; ++t) {
          const auto u = LoadChannels(d, in.u + (t0 + t) * in.u_stride + c, count);
          auto step = hn::Add(LoadChannels(d, in.delta + (t0 + t) * in.delta_stride + c, count), bias);
          auto slope = zero;
          if (in.delta_softplus) Softplus(d, step, step, slope);
          hn::Store(step, d, dt + t * lanes);
          hn::Store(hn::Mul(step, u), d, dx + t * lanes);
          hn::Store(hn::Mul(D, u), d, y + t * lanes);
          if (in.z != nullptr) {
            auto value = zero;
            Silu(d, LoadChannels(d, in.z + (t0 + t) * in.z_stride + c, count), value, slope);
            hn::Store(value, d, gate + t * lanes);
          }
        }

        const ForwardBlock<Real> block{dt, dx, y};
        const Real* A_c = A + (c - first_channel) * N;
        const Real* B = in.B + t0 * in.B_stride;
        const Real* C = in.C + t0 * in.C_stride;
        int64_t n = 0;
        for (; n + 2 <= N; n += 2) {
          ForwardStates<kExtended, 2>(d, tokens, block, A_c + n * lanes, B + n, in.B_stride, C + n, in.C_stride,
                                      h_c + n * lanes);
        }
        if (n < N) {
          ForwardStates<kExtended, 1>(d, tokens, block, A_c + n * lanes, B + n, in.B_stride, C + n, in.C_stride,
                                      h_c + n * lanes);
        }

        for (int64_t t = 0; t < tokens; ++t) {
          auto value = hn::Load(d, y + t * lanes);
          if (in.z != nullptr) value = hn::Mul(value, hn::Load(d, gate + t * lanes));
          StoreChannels(value, d, out.y + (t0 + t) * out.y_stride + c, count);
        }
      }
      if (t0 > begin) ++saved;
    }
    if (out.final_state != nullptr) {
      for (int64_t c = first_channel; c < end_channel; c += lanes) {
        StoreTransposed(d, h + (c - first_channel) * N, std::min(lanes, end_channel - c), N,
                        out.final_state + (s * in.channels + c) * N);
      }
    }
  }
}

// What the backward pass keeps of a block for one vector of channels, [tokens, lanes] each.
template <typename Real>
struct BackwardBlock {
  const Real* dt;
  const Real* dx;  // dt u
  const Real* gy;  // gradient of C . h + D u
  Real* y;         // C . h is added, unless null
  Real* gdx;       // gradient of dt u: sum over n of gh B, added
  Real* gdt;       // sum over n of (gradient of dt A') A', added
  Real* h;         // [tokens + 1, 2, lanes], h of the two states before each token and at the end
  Real* e;         // [tokens, 2, lanes], a or, kExtended, a + 1
};

// States n .. n + kStates - 1 of a block, pointers as in ForwardStates. gh holds the gradient of the state after the
// block and receives that of the state before it; dA is added to. sums: [n][token][dB, dC][lanes], added to.
template <bool kExtended, int kStates, class D, typename Real = hn::TFromD<D>>
HWY_INLINE void BackwardStates(D d, int64_t tokens, const BackwardBlock<Real>& block, const Real* HWY_RESTRICT A,
                               const Real* HWY_RESTRICT B, int64_t B_stride, const Real* HWY_RESTRICT C,
                               int64_t C_stride, const Real* HWY_RESTRICT h_before, int64_t h_stride,
                               Real* HWY_RESTRICT gh, Real* HWY_RESTRICT dA, Real* HWY_RESTRICT sums) {
  const size_t lanes = hn::Lanes(d);
  constexpr int kSecond = kStates - 1;
  const auto A0 = hn::Load(d, A);
  const auto A1 = hn::Load(d, A + kSecond * lanes);
  auto h0 = hn::LoadU(d, h_before);
  auto h1 = hn::LoadU(d, h_before + kSecond * h_stride);
  Real* HWY_RESTRICT h = block.h;
  Real* HWY_RESTRICT e = block.e;
  hn::Store(h0, d, h);
  hn::Store(h1, d, h + lanes);

  for (int64_t t = 0; t < tokens; ++t) {
    const auto dt = hn::Load(d, block.dt + t * lanes);
    const auto dx = hn::Load(d, block.dx + t * lanes);
    const auto e0 = Exp2<kExtended>(d, hn::Mul(dt, A0));
    h0 = NextState<kExtended>(e0, h0, dx, hn::Set(d, B[t * B_stride]));
    hn::Store(e0, d, e + 2 * t * lanes);
    hn::Store(h0, d, h + 2 * (t + 1) * lanes);
    if constexpr (kStates == 2) {
      const auto e1 = Exp2<kExtended>(d, hn::Mul(dt, A1));
      h1 = NextState<kExtended>(e1, h1, dx, hn::Set(d, B[t * B_stride + 1]));
      hn::Store(e1, d, e + (2 * t + 1) * lanes);
      hn::Store(h1, d, h + (2 * t + 3) * lanes);
    }
  }
  if (block.y != nullptr) {
    for (int64_t t = 0; t < tokens; ++t) {
      const Real* h_t = h + 2 * (t + 1) * lanes;
      auto y = hn::MulAdd(hn::Load(d, h_t), hn::Set(d, C[t * C_stride]), hn::Load(d, block.y + t * lanes));
      if constexpr (kStates == 2) y = hn::MulAdd(hn::Load(d, h_t + lanes), hn::Set(d, C[t * C_stride + 1]), y);
      hn::Store(y, d, block.y + t * lanes);
    }
  }

  // One step back for one state: adds to gdx, gdt, dA and the sums, and turns g from the gradient of h_t, without what
  // y_t adds to it, into that of h_{t-1}.
  const auto step = [&](int64_t t, int64_t i, auto A_i, auto gy, auto dt, auto dx, auto h_t, auto h_previous, auto& g,
                        auto& dA_i, auto& gdx, auto& gdt) HWY_ATTR {
    Real* HWY_RESTRICT dBC = sums + (i * kBlock + t) * 2 * lanes;
    g = hn::MulAdd(gy, hn::Set(d, C[t * C_stride + i]), g);
    hn::Store(hn::MulAdd(g, dx, hn::Load(d, dBC)), d, dBC);
    hn::Store(hn::MulAdd(gy, h_t, hn::Load(d, dBC + lanes)), d, dBC + lanes);
    gdx = hn::MulAdd(g, hn::Set(d, B[t * B_stride + i]), gdx);
    const auto ge = hn::Mul(g, hn::Load(d, e + (2 * t + i) * lanes));  // d a / d (dt A) = e for both ranges
    g = kExtended ? hn::Sub(ge, g) : ge;
    const auto gdtA = hn::Mul(ge, h_previous);
    gdt = hn::MulAdd(gdtA, A_i, gdt);
    dA_i = hn::MulAdd(gdtA, dt, dA_i);
  };
  auto g0 = hn::Load(d, gh);
  auto g1 = hn::Load(d, gh + kSecond * lanes);
  auto dA0 = hn::Zero(d);
  auto dA1 = hn::Zero(d);
  for (int64_t t = tokens - 1; t >= 0; --t) {
    const auto gy = hn::Load(d, block.gy + t * lanes);
    const auto dt = hn::Load(d, block.dt + t * lanes);
    const auto dx = hn::Load(d, block.dx + t * lanes);
    auto gdx = hn::Load(d, block.gdx + t * lanes);
    auto gdt = hn::Load(d, block.gdt + t * lanes);
    const auto h0_previous = hn::Load(d, h + 2 * t * lanes);
    step(t, 0, A0, gy, dt, dx, h0, h0_previous, g0, dA0, gdx, gdt);
    h0 = h0_previous;
    if constexpr (kStates == 2) {
      const auto h1_previous = hn::Load(d, h + (2 * t + 1) * lanes);
      step(t, 1, A1, gy, dt, dx, h1, h1_previous, g1, dA1, gdx, gdt);
      h1 = h1_previous;
    }
    hn::Store(gdx, d, block.gdx + t * lanes);
    hn::Store(gdt, d, block.gdt + t * lanes);
  }
  hn::Store(g0, d, gh);
  hn::Store(hn::Add(dA0, hn::Load(d, dA)), d, dA);
  if constexpr (kStates == 2) {
    hn::Store(g1, d, gh + lanes);
    hn::Store(hn::Add(dA1, hn::Load(d, dA + lanes)), d, dA + lanes);
  }
}

// dB and dC: [T, N], the sums over this tile's channels. dA: [D, N], dD, ddelta_bias: [D], the sums over this group's
// tokens.
template <bool kExtended, typename Real>
void BackwardTask(const SelectiveScanInputs<Real>& in, const SelectiveScanGradInputs<Real>& grad,
                  const SelectiveScanGradOutputs<Real>& out, const SelectiveScanGroup& group, int64_t first_channel,
                  int64_t end_channel) {
  const ChannelTag<Real> d;
  const int64_t lanes = hn::Lanes(d);
  const int64_t N = in.states;
  const int64_t width = (end_channel - first_channel + lanes - 1) / lanes * lanes;
  const int64_t saved_groups = (in.channels + kSelectiveScanLanes - 1) / kSelectiveScanLanes;
  const auto zero = hn::Zero(d);

  Scratch<Real> scratch(4 * width * N + 2 * width + (2 * N + 2 * 2 + 9) * kBlock * lanes + 2 * lanes, 18);
  Real* A = scratch.Take(width * N);   // [vectors, N, lanes], times 1 / ln 2
  Real* h = scratch.Take(width * N);   // the initial state of a sequence
  Real* gh = scratch.Take(width * N);  // gradient of the state between blocks
  Real* dA = scratch.Take(width * N);
  Real* dD = scratch.Take(width);
  Real* dbias = scratch.Take(width);
  Real* sums = scratch.Take(2 * N * kBlock * lanes);  // [N, tokens, dB and dC, lanes]
  Real* block_h = scratch.Take(2 * (kBlock + 1) * lanes);
  Real* block_e = scratch.Take(2 * kBlock * lanes);
  Real* u = scratch.Take(kBlock * lanes);
  Real* dt = scratch.Take(kBlock * lanes);
  Real* dt_slope = scratch.Take(kBlock * lanes);
  Real* dx = scratch.Take(kBlock * lanes);
  Real* gy = scratch.Take(kBlock * lanes);
  Real* gdx = scratch.Take(kBlock * lanes);
  Real* gdt = scratch.Take(kBlock * lanes);
  Real* y = scratch.Take(kBlock * lanes);
  Real* z_slope = scratch.Take(kBlock * lanes);  // dy silu'(z)
  for (int64_t c = first_channel; c < end_channel; c += lanes) {
    LoadTransposed(d, in.A + c * N, std::min(lanes, end_channel - c), N, Real(1.4426950408889634),
                   A + (c - first_channel) * N);
  }
  std::fill_n(dA, width * N, Real(0));
  std::fill_n(dD, width, Real(0));
  std::fill_n(dbias, width, Real(0));

  int64_t saved = group.first_saved_state;  // of the sequence's first saved state
  for (int64_t s = group.first_sequence; s < group.end_sequence; ++s) {
    const int64_t begin = in.cu_seqlens[s];
    const int64_t end = in.cu_seqlens[s + 1];
    const int64_t saved_here = SelectiveScanSavedStates(end - begin);
    const auto load_states = [&](const Real* from, Real* to) {
      if (from == nullptr) return void(std::fill_n(to, width * N, Real(0)));
      for (int64_t c = first_channel; c < end_channel; c += lanes) {
        LoadTransposed(d, from + (s * in.channels + c) * N, std::min(lanes, end_channel - c), N, Real(1),
                       to + (c - first_channel) * N);
      }
    };
    load_states(in.initial_state, h);
    load_states(grad.dfinal_state, gh);

    for (int64_t b = end > begin ? saved_here : -1; b >= 0; --b) {
      const int64_t t0 = begin + b * kBlock;
      const int64_t tokens = std::min(kBlock, end - t0);
      std::fill_n(sums, 2 * N * kBlock * lanes, Real(0));
      for (int64_t c = first_channel; c < end_channel; c += lanes) {
        const size_t count = std::min(lanes, end_channel - c);
        const auto D = in.D == nullptr ? zero : LoadChannels(d, in.D + c, count);
        const auto bias = in.delta_bias == nullptr ? zero : LoadChannels(d, in.delta_bias + c, count);
        for (int64_t t = 0; t < tokens; ++t) {
          const auto u_t = LoadChannels(d, in.u + (t0 + t) * in.u_stride + c, count);
          auto dt_t = hn::Add(LoadChannels(d, in.delta + (t0 + t) * in.delta_stride + c, count), bias);
          auto slope = hn::Set(d, Real(1));
          if (in.delta_softplus) Softplus(d, dt_t, dt_t, slope);
          hn::Store(u_t, d, u + t * lanes);
          hn::Store(dt_t, d, dt + t * lanes);
          hn::Store(slope, d, dt_slope + t * lanes);
          hn::Store(hn::Mul(dt_t, u_t), d, dx + t * lanes);
          hn::Store(hn::Mul(D, u_t), d, y + t * lanes);
          hn::Store(zero, d, gdx + t * lanes);
          hn::Store(zero, d, gdt + t * lanes);
          auto gy_t = LoadChannels(d, grad.dy + (t0 + t) * grad.dy_stride + c, count);
          if (in.z != nullptr) {
            auto gate = zero;
            Silu(d, LoadChannels(d, in.z + (t0 + t) * in.z_stride + c, count), gate, slope);
            hn::Store(hn::Mul(gy_t, slope), d, z_slope + t * lanes);
            gy_t = hn::Mul(gy_t, gate);
          }
          hn::Store(gy_t, d, gy + t * lanes);
        }

        const BackwardBlock<Real> block{dt, dx, gy, out.dz != nullptr ? y : nullptr, gdx, gdt, block_h, block_e};
        const int64_t at = (c - first_channel) * N;
        const Real* h_before = h + at;
        int64_t h_stride = lanes;
        if (b > 0) {
          h_before = grad.block_states +
                     ((saved + b - 1) * saved_groups + c / kSelectiveScanLanes) * N * kSelectiveScanLanes +
                     c % kSelectiveScanLanes;
          h_stride = kSelectiveScanLanes;
        }
        const Real* B = in.B + t0 * in.B_stride;
        const Real* C = in.C + t0 * in.C_stride;
        int64_t n = 0;
        for (; n + 2 <= N; n += 2) {
          BackwardStates<kExtended, 2>(d, tokens, block, A + at + n * lanes, B + n, in.B_stride, C + n, in.C_stride,
                                       h_before + n * h_stride, h_stride, gh + at + n * lanes, dA + at + n * lanes,
                                       sums + n * kBlock * 2 * lanes);
        }
        if (n < N) {
          BackwardStates<kExtended, 1>(d, tokens, block, A + at + n * lanes, B + n, in.B_stride, C + n, in.C_stride,
                                       h_before + n * h_stride, h_stride, gh + at + n * lanes, dA + at + n * lanes,
                                       sums + n * kBlock * 2 * lanes);
        }

        const auto ln2 = hn::Set(d, Real(0.6931471805599453));
        auto dD_c = zero;
        auto dbias_c = zero;
        for (int64_t t = 0; t < tokens; ++t) {
          const auto u_t = hn::Load(d, u + t * lanes);
          const auto gy_t = hn::Load(d, gy + t * lanes);
          const auto gdx_t = hn::Load(d, gdx + t * lanes);
          const auto gdt_t = hn::MulAdd(hn::Load(d, gdt + t * lanes), ln2, hn::Mul(gdx_t, u_t));
          const auto ddelta = hn::Mul(gdt_t, hn::Load(d, dt_slope + t * lanes));
          const auto du = hn::MulAdd(gdx_t, hn::Load(d, dt + t * lanes), hn::Mul(gy_t, D));
          const int64_t row = (t0 + t) * in.channels + c;
          StoreChannels(du, d, out.du + row, count);
          StoreChannels(ddelta, d, out.ddelta + row, count);
          if (out.dz != nullptr) {
            StoreChannels(hn::Mul(hn::Load(d, z_slope + t * lanes), hn::Load(d, y + t * lanes)), d, out.dz + row,
                          count);
          }
          dD_c = hn::MulAdd(gy_t, u_t, dD_c);
          dbias_c = hn::Add(dbias_c, ddelta);
        }
        Real* dD_at = dD + (c - first_channel);
        Real* dbias_at = dbias + (c - first_channel);
        hn::Store(hn::Add(dD_c, hn::Load(d, dD_at)), d, dD_at);
        hn::Store(hn::Add(dbias_c, hn::Load(d, dbias_at)), d, dbias_at);
      }
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t n = 0; n < N; ++n) {
          const Real* dBC = sums + (n * kBlock + t) * 2 * lanes;
          out.dB[(t0 + t) * N + n] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, dBC)));
          out.dC[(t0 + t) * N + n] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, dBC + lanes)));
        }
      }
    }
    saved += saved_here;
    if (out.dinitial_state != nullptr) {
      for (int64_t c = first_channel; c < end_channel; c += lanes) {
        StoreTransposed(d, gh + (c - first_channel) * N, std::min(lanes, end_channel - c), N,
                        out.dinitial_state + (s * in.channels + c) * N);
      }
    }
  }
  for (int64_t c = first_channel; c < end_channel; c += lanes) {
    StoreTransposed(d, dA + (c - first_channel) * N, std::min(lanes, end_channel - c), N, out.dA + c * N);
  }
  std::copy_n(dD, end_channel - first_channel, out.dD + first_channel);
  std::copy_n(dbias, end_channel - first_channel, out.ddelta_bias + first_channel);
}

}  // namespace lrnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
