// Selective scan, compiled once per SIMD target: the forward pass of one task = one group of sequences x one tile of
// channels, and what the backward pass shares with it.
//
// Lanes are channels. A vector of channels walks through a block of up to 16 tokens for a few states at a time: their h
// and gradients stay in registers, and dt, dt * u and y of the block in L1. exp(dt A) is computed as 2^(dt A'), where
// A' = A / ln 2. Blocking: docs/math/selective_scan.md.

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
#include <type_traits>

#include "lrnn/kernels/prefetch.h"
#include "lrnn/kernels/selective_scan.h"
#include "lrnn/kernels/selective_scan_math-inl.h"
#include "lrnn/kernels/selective_scan_plan.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using ChannelTag = hn::CappedTag<Real, kSelectiveScanLanes>;

inline constexpr int64_t kBlock = kSelectiveScanBlock;

// Channels whose rows of a block are read and written together, whole cache lines at a time: with a row stride of a
// multiple of 4 KiB, the rows of a block share one set of the L1 cache and do not stay in it.
inline constexpr int64_t kPanel = 64;

// States of a pass through a block: with 32 registers more than with 16.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kTogether = 4;
#else
inline constexpr int kTogether = 2;
#endif
// Loops over them are unrolled at every level of optimisation: their arrays are registers.
#define LRNN_UNROLL_STATES _Pragma("GCC unroll 4")

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

// The largest |dt| for which every exponent dt A' is moderate, as it is for all but extreme time steps. A: [vectors, N,
// lanes].
template <class D, typename Real = hn::TFromD<D>>
Real ModerateStep(D d, const Real* HWY_RESTRICT A, int64_t size) {
  auto largest = hn::Zero(d);
  for (int64_t i = 0; i < size; i += hn::Lanes(d)) largest = hn::Max(largest, hn::Abs(hn::Load(d, A + i)));
  return kModerate<Real> / hn::GetLane(hn::MaxOfLanes(d, largest));
}

// Rows to ask for ahead of their use, one with each token of a pass: all at once they would hold up what comes after
// them, as a core waits for few lines at a time.
template <typename Real>
struct RowsAhead {
  const Real* first;
  int64_t stride;
};

// The exponents dt A' of kStates states, A at the first, ready for Power.
template <bool kExtended, bool kClamp, int kStates, class D, typename Real = hn::TFromD<D>>
struct Exponents {
  HWY_INLINE Exponents(D d, const Real* HWY_RESTRICT dt, const Real* HWY_RESTRICT A) {
    const auto dt_t = hn::Load(d, dt);
    LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) {
      x[i] = SplitExponent<kExtended, kClamp>(d, hn::Mul(dt_t, hn::Load(d, A + i * hn::Lanes(d))));
    }
  }
  Exponent<kClamp ? 1 : kTableSteps<D>, hn::Vec<D>> x[kStates];
};

// What a block of tokens needs of one vector of channels, [tokens, lanes] each.
template <typename Real>
struct ForwardBlock {
  const Real* dt;
  const Real* dx;  // dt u
  Real* y;         // C . h is added
};

// States n .. n + kStates - 1 of `tokens` tokens; A (times 1 / ln 2) and h point to state n, B and C to row 0, state n.
template <bool kExtended, bool kClamp, int kStates, class D, typename Real = hn::TFromD<D>>
HWY_INLINE void ForwardStates(D d, int64_t tokens, const ForwardBlock<Real>& block, const Real* HWY_RESTRICT A,
                              const Real* HWY_RESTRICT B, int64_t B_stride, const Real* HWY_RESTRICT C,
                              int64_t C_stride, Real* HWY_RESTRICT h, RowsAhead<Real> ahead) {
  const size_t lanes = hn::Lanes(d);
  hn::Vec<D> h_t[kStates];
  LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) h_t[i] = hn::Load(d, h + i * lanes);
  const Real* HWY_RESTRICT dt_row = block.dt;
  const Real* HWY_RESTRICT dx_row = block.dx;
  Real* HWY_RESTRICT y_row = block.y;
  // One token ahead: a core finds more to do at a time when half of an exponential does not wait for the other.
  Exponents<kExtended, kClamp, kStates, D> exponents(d, dt_row, A);
  for (int64_t t = 0; t < tokens; ++t, B += B_stride, C += C_stride, dt_row += lanes, dx_row += lanes, y_row += lanes) {
    __builtin_prefetch(ahead.first + t * ahead.stride, 0, 2);
    const auto now = exponents;
    exponents = {d, t + 1 < tokens ? dt_row + lanes : dt_row, A};
    const auto dx = hn::Load(d, dx_row);
    auto y = hn::Load(d, y_row);
    LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) {
      h_t[i] = NextState<kExtended>(Power(d, now.x[i]), h_t[i], dx, hn::Set(d, B[i]));
      y = hn::MulAdd(h_t[i], hn::Set(d, C[i]), y);
    }
    hn::Store(y, d, y_row);
  }
  LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) hn::Store(h_t[i], d, h + i * lanes);
}

// Calls scan(number of states, first state), kTogether states at a time and what is left one by one.
template <typename Scan>
HWY_INLINE void ForAllStates(int64_t N, const Scan& scan) {
  int64_t n = 0;
  for (; n + kTogether <= N; n += kTogether) scan(std::integral_constant<int, kTogether>(), n);
  for (; n < N; ++n) scan(std::integral_constant<int, 1>(), n);
}

// [D] padded to whole vectors; zeros without an array.
template <typename Real>
void LoadVector(const Real* from, int64_t first, int64_t end, int64_t width, Real* to) {
  std::fill_n(to, width, Real(0));
  if (from != nullptr) std::copy(from + first, from + end, to);
}

// States of sequence s, [S, D, N], to [vectors, N, lanes]; zeros without an array.
template <class D, typename Real = hn::TFromD<D>>
HWY_INLINE void LoadStates(D d, const Real* from, const SelectiveScanInputs<Real>& in, int64_t s, int64_t first,
                           int64_t end, Real scale, Real* to) {
  const int64_t lanes = hn::Lanes(d);
  for (int64_t c = first; c < end; c += lanes) {
    Real* to_c = to + (c - first) * in.states;
    if (from == nullptr) {
      std::fill_n(to_c, in.states * lanes, Real(0));
    } else {
      LoadTransposed(d, from + (s * in.channels + c) * in.states, std::min(lanes, end - c), in.states, scale, to_c);
    }
  }
}

template <class D, typename Real = hn::TFromD<D>>
HWY_INLINE void StoreStates(D d, const Real* from, const SelectiveScanInputs<Real>& in, int64_t s, int64_t first,
                            int64_t end, Real* to) {
  if (to == nullptr) return;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t c = first; c < end; c += lanes) {
    StoreTransposed(d, from + (c - first) * in.states, std::min(lanes, end - c), in.states,
                    to + (s * in.channels + c) * in.states);
  }
}

// Where block_states keeps state 0 of channel c; the next state is kSelectiveScanLanes further.
template <typename Real>
int64_t SavedState(const SelectiveScanInputs<Real>& in, int64_t saved, int64_t c) {
  const int64_t lane_groups = (in.channels + kSelectiveScanLanes - 1) / kSelectiveScanLanes;
  return (saved * lane_groups + c / kSelectiveScanLanes) * in.states * kSelectiveScanLanes + c % kSelectiveScanLanes;
}

// `in` and `out` are copies, so that what they hold can stay in registers: a store of a vector may change any other
// object.
template <bool kExtended, typename Real>
void ForwardTask(const SelectiveScanInputs<Real> in, const SelectiveScanOutputs<Real> out,
                 const SelectiveScanGroup& group, int64_t first, int64_t end) {
  const ChannelTag<Real> d;
  const int64_t lanes = hn::Lanes(d);
  const int64_t N = in.states;
  const int64_t width = (end - first + lanes - 1) / lanes * lanes;

  Scratch<Real> scratch(2 * width * N + 2 * width + 4 * kBlock * kPanel, 8);
  Real* A = scratch.Take(width * N);  // [vectors, N, lanes], times 1 / ln 2
  Real* h = scratch.Take(width * N);  // [vectors, N, lanes]
  Real* D = scratch.Take(width);
  Real* bias = scratch.Take(width);
  Real* dt = scratch.Take(kBlock * kPanel);  // these: [vectors of the panel, tokens, lanes]
  Real* dx = scratch.Take(kBlock * kPanel);
  Real* y = scratch.Take(kBlock * kPanel);
  Real* gate = scratch.Take(kBlock * kPanel);
  LoadStates(d, in.A, in, 0, first, end, Real(1.4426950408889634), A);
  LoadVector(in.D, first, end, width, D);
  LoadVector(in.delta_bias, first, end, width, bias);
  const Real moderate_step = ModerateStep(d, A, width * N);

  int64_t saved = group.first_saved_state;
  for (int64_t s = group.first_sequence; s < group.end_sequence; ++s) {
    LoadStates(d, in.initial_state, in, s, first, end, Real(1), h);
    const int64_t begin = in.cu_seqlens[s];
    for (int64_t t0 = begin; t0 < in.cu_seqlens[s + 1]; t0 += kBlock) {
      const int64_t tokens = std::min(kBlock, in.cu_seqlens[s + 1] - t0);
      const bool saves = out.block_states != nullptr && t0 > begin;
      for (int64_t panel = first; panel < end; panel += kPanel) {
        const int64_t panel_end = std::min(panel + kPanel, end);
        auto largest_step = hn::Zero(d);
        for (int64_t t = 0; t < tokens; ++t) {
          for (int64_t c = panel; c < panel_end; c += lanes) {
            const size_t count = std::min(lanes, panel_end - c);
            const int64_t at = (c - panel) * kBlock + t * lanes;
            const auto u_t = LoadChannels(d, in.u + (t0 + t) * in.u_stride + c, count);
            auto dt_t = hn::Add(LoadChannels(d, in.delta + (t0 + t) * in.delta_stride + c, count),
                                hn::Load(d, bias + (c - first)));
            auto slope = hn::Zero(d);
            if (in.delta_softplus) Softplus(d, dt_t, dt_t, slope);
            largest_step = hn::Max(largest_step, hn::Abs(dt_t));
            hn::Store(dt_t, d, dt + at);
            hn::Store(hn::Mul(dt_t, u_t), d, dx + at);
            hn::Store(hn::Mul(hn::Load(d, D + (c - first)), u_t), d, y + at);
            if (in.z != nullptr) {
              auto gate_t = hn::Zero(d);
              Silu(d, LoadChannels(d, in.z + (t0 + t) * in.z_stride + c, count), gate_t, slope);
              hn::Store(gate_t, d, gate + at);
            }
          }
        }

        const bool moderate = hn::GetLane(hn::MaxOfLanes(d, largest_step)) <= moderate_step;
        for (int64_t c = panel; c < panel_end; c += lanes) {
          const int64_t at = (c - panel) * kBlock;
          Real* h_c = h + (c - first) * N;
          if (saves) {
            Real* to = out.block_states + SavedState(in, saved, c);
            for (int64_t n = 0; n < N; ++n) {
              hn::StoreU(hn::Load(d, h_c + n * lanes), d, to + n * kSelectiveScanLanes);
            }
          }
          const ForwardBlock<Real> block{dt + at, dx + at, y + at};
          const auto next = [&](const Real* rows, int64_t stride) {
            return RowsAhead<Real>{rows + (t0 + kBlock) * stride + c, stride};
          };
          const auto u_next = next(in.u, in.u_stride);
          const RowsAhead<Real> ahead[] = {u_next, next(in.delta, in.delta_stride), next(out.y, out.y_stride),
                                           in.z != nullptr ? next(in.z, in.z_stride) : u_next};
          const auto scan = [&](auto clamp, auto states, int64_t n) HWY_ATTR {
            ForwardStates<kExtended, clamp.value, states.value>(
                d, tokens, block, A + ((c - first) * N + n * lanes), in.B + t0 * in.B_stride + n, in.B_stride,
                in.C + t0 * in.C_stride + n, in.C_stride, h_c + n * lanes, ahead[n / kTogether % 4]);
          };
          if (moderate) {
            ForAllStates(N, [&](auto states, int64_t n) HWY_ATTR { scan(std::false_type(), states, n); });
          } else {
            ForAllStates(N, [&](auto states, int64_t n) HWY_ATTR { scan(std::true_type(), states, n); });
          }
        }

        for (int64_t t = 0; t < tokens; ++t) {
          for (int64_t c = panel; c < panel_end; c += lanes) {
            const int64_t at = (c - panel) * kBlock + t * lanes;
            auto y_t = hn::Load(d, y + at);
            if (in.z != nullptr) y_t = hn::Mul(y_t, hn::Load(d, gate + at));
            StoreChannels(y_t, d, out.y + (t0 + t) * out.y_stride + c, std::min(lanes, panel_end - c));
          }
        }
      }
      if (t0 > begin) ++saved;
    }
    StoreStates(d, h, in, s, first, end, out.final_state);
  }
}

}  // namespace lrnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
