// Selective scan, compiled once per SIMD target: the backward pass of one task.
//
// Blocks of 16 tokens are taken last to first; inside a block a few states at a time run forward again from the
// saved state and then back. dB and dC are sums over channels: they are kept as vectors over all channels of the tile
// and summed over lanes once per block. Gradients: docs/math/selective_scan.md.

#if defined(LRNN_KERNELS_SELECTIVE_SCAN_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_SELECTIVE_SCAN_BACKWARD_INL_H_
#undef LRNN_KERNELS_SELECTIVE_SCAN_BACKWARD_INL_H_
#else
#define LRNN_KERNELS_SELECTIVE_SCAN_BACKWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "lrnn/kernels/selective_scan-inl.h"
#include "lrnn/kernels/sum_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels::HWY_NAMESPACE {

// What the backward pass keeps of a block for one vector of channels, [tokens, lanes] each.
template <typename Real>
struct BackwardBlock {
  const Real* dt;
  const Real* dx;  // dt u
  const Real* gy;  // gradient of C . h + D u
  Real* y;         // C . h is added, unless null
  Real* gdx;       // gradient of dt u: sum over n of gh B, added
  Real* gdt;       // sum over n of (gradient of dt A') A', added
  Real* h;         // [tokens + 1, kTogether, lanes], h of a pass's states before each token and at the end
  Real* e;         // [tokens, kTogether, lanes], a or, kExtended, a + 1
};

// States n .. n + kStates - 1 of a block, pointers as in ForwardStates. gh holds the gradient of the state after the
// block and receives that of the state before it; dA is added to. sums: [n][token][dB, dC][lanes], added to.
template <bool kExtended, bool kClamp, int kStates, class D, typename Real = hn::TFromD<D>>
HWY_INLINE void BackwardStates(D d, int64_t tokens, const BackwardBlock<Real>& block, const Real* HWY_RESTRICT A,
                               const Real* HWY_RESTRICT B, int64_t B_stride, const Real* HWY_RESTRICT C,
                               int64_t C_stride, const Real* HWY_RESTRICT h_before, int64_t h_stride,
                               Real* HWY_RESTRICT gh, Real* HWY_RESTRICT dA, Real* HWY_RESTRICT sums,
                               const RowsAhead<Real>* ahead) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  const size_t step = kTogether * lanes;
  Real* HWY_RESTRICT h = block.h;
  Real* HWY_RESTRICT e = block.e;

  V h_t[kStates];
  LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) {
    h_t[i] = hn::LoadU(d, h_before + i * h_stride);
    hn::Store(h_t[i], d, h + i * lanes);
  }
  for (int64_t t = 0; t < tokens; ++t) {
    __builtin_prefetch(ahead[0].first + t * ahead[0].stride, 0, 2);
    const auto dt = hn::Load(d, block.dt + t * lanes);
    const auto dx = hn::Load(d, block.dx + t * lanes);
    LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) {
      const auto e_t = Exp2<kExtended, kClamp>(d, hn::Mul(dt, hn::Load(d, A + i * lanes)));
      h_t[i] = NextState<kExtended>(e_t, h_t[i], dx, hn::Set(d, B[t * B_stride + i]));
      hn::Store(e_t, d, e + t * step + i * lanes);
      hn::Store(h_t[i], d, h + (t + 1) * step + i * lanes);
    }
    if (block.y == nullptr) continue;
    auto y = hn::Load(d, block.y + t * lanes);
    LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) y = hn::MulAdd(h_t[i], hn::Set(d, C[t * C_stride + i]), y);
    hn::Store(y, d, block.y + t * lanes);
  }

  V g[kStates];  // the gradient of h_t, without what y_t adds to it
  V dA_sum[kStates];
  LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) {
    g[i] = hn::Load(d, gh + i * lanes);
    dA_sum[i] = hn::Load(d, dA + i * lanes);
  }
  for (int64_t t = tokens - 1; t >= 0; --t) {
    __builtin_prefetch(ahead[1].first + t * ahead[1].stride, 0, 2);
    const auto gy = hn::Load(d, block.gy + t * lanes);
    const auto dt = hn::Load(d, block.dt + t * lanes);
    const auto dx = hn::Load(d, block.dx + t * lanes);
    auto gdx = hn::Load(d, block.gdx + t * lanes);
    auto gdt = hn::Load(d, block.gdt + t * lanes);
    LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) {
      Real* HWY_RESTRICT dBC = sums + (i * kBlock + t) * 2 * lanes;
      const auto gh_t = hn::MulAdd(gy, hn::Set(d, C[t * C_stride + i]), g[i]);
      hn::Store(hn::MulAdd(gh_t, dx, hn::Load(d, dBC)), d, dBC);
      hn::Store(hn::MulAdd(gy, h_t[i], hn::Load(d, dBC + lanes)), d, dBC + lanes);
      gdx = hn::MulAdd(gh_t, hn::Set(d, B[t * B_stride + i]), gdx);
      const auto ge = hn::Mul(gh_t, hn::Load(d, e + t * step + i * lanes));  // d a / d (dt A) = e for both ranges
      g[i] = kExtended ? hn::Sub(ge, gh_t) : ge;
      h_t[i] = hn::Load(d, h + t * step + i * lanes);
      const auto gdtA = hn::Mul(ge, h_t[i]);
      gdt = hn::MulAdd(gdtA, hn::Load(d, A + i * lanes), gdt);
      dA_sum[i] = hn::MulAdd(gdtA, dt, dA_sum[i]);
    }
    hn::Store(gdx, d, block.gdx + t * lanes);
    hn::Store(gdt, d, block.gdt + t * lanes);
  }
  LRNN_UNROLL_STATES for (int i = 0; i < kStates; ++i) {
    hn::Store(g[i], d, gh + i * lanes);
    hn::Store(dA_sum[i], d, dA + i * lanes);
  }
}

// to[i] = the sum of the vector at v + i * stride, i < count.
template <class D, typename Real = hn::TFromD<D>>
HWY_INLINE void SumLanes(D d, int64_t count, const Real* HWY_RESTRICT v, int64_t stride, Real* HWY_RESTRICT to) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    hn::Vec<D> four[4];
    LRNN_UNROLL_STATES for (int k = 0; k < 4; ++k) four[k] = hn::Load(d, v + (i + k) * stride);
    SumLanesOfFour(four, to + i);
  }
  for (; i < count; ++i) to[i] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, v + i * stride)));
}

// dB and dC: [T, N], the sums over this tile's channels. dA: [D, N], dD, ddelta_bias: [D], the sums over this group's
// tokens.
template <bool kExtended, typename Real>
void BackwardTask(const SelectiveScanInputs<Real> in, const SelectiveScanGradInputs<Real> grad,
                  const SelectiveScanGradOutputs<Real> out, const SelectiveScanGroup& group, int64_t first,
                  int64_t end) {
  const ChannelTag<Real> d;
  const int64_t lanes = hn::Lanes(d);
  const int64_t N = in.states;
  const int64_t width = (end - first + lanes - 1) / lanes * lanes;

  Scratch<Real> scratch(
      4 * width * N + 4 * width + (2 * N + 2 * kTogether) * kBlock * lanes + kTogether * lanes + 9 * kBlock * kPanel,
      20);
  Real* A = scratch.Take(width * N);   // [vectors, N, lanes], times 1 / ln 2
  Real* h = scratch.Take(width * N);   // the initial state of a sequence
  Real* gh = scratch.Take(width * N);  // gradient of the state between blocks
  Real* dA = scratch.Take(width * N);
  Real* D = scratch.Take(width);
  Real* bias = scratch.Take(width);
  Real* dD = scratch.Take(width);
  Real* dbias = scratch.Take(width);
  Real* sums = scratch.Take(2 * N * kBlock * lanes);  // [N, tokens, dB and dC, lanes]
  Real* block_h = scratch.Take(kTogether * (kBlock + 1) * lanes);
  Real* block_e = scratch.Take(kTogether * kBlock * lanes);
  Real* u = scratch.Take(kBlock * kPanel);  // these: [vectors of the panel, tokens, lanes]
  Real* dt = scratch.Take(kBlock * kPanel);
  Real* dt_slope = scratch.Take(kBlock * kPanel);
  Real* dx = scratch.Take(kBlock * kPanel);
  Real* gy = scratch.Take(kBlock * kPanel);
  Real* gdx = scratch.Take(kBlock * kPanel);
  Real* gdt = scratch.Take(kBlock * kPanel);
  Real* y = scratch.Take(kBlock * kPanel);
  Real* z_slope = scratch.Take(kBlock * kPanel);  // dy silu'(z)
  LoadStates(d, in.A, in, 0, first, end, Real(1.4426950408889634), A);
  LoadVector(in.D, first, end, width, D);
  LoadVector(in.delta_bias, first, end, width, bias);
  const Real moderate_step = ModerateStep(d, A, width * N);
  std::fill_n(dA, width * N, Real(0));
  std::fill_n(dD, width, Real(0));
  std::fill_n(dbias, width, Real(0));

  int64_t saved = group.end_saved_state;  // of the last saved state that was used
  for (int64_t s = group.end_sequence - 1; s >= group.first_sequence; --s) {
    const int64_t begin = in.cu_seqlens[s];
    const int64_t length = in.cu_seqlens[s + 1] - begin;
    LoadStates(d, in.initial_state, in, s, first, end, Real(1), h);
    LoadStates(d, grad.dfinal_state, in, s, first, end, Real(1), gh);

    for (int64_t b = (length + kBlock - 1) / kBlock - 1; b >= 0; --b) {
      const int64_t t0 = begin + b * kBlock;
      const int64_t tokens = std::min(kBlock, begin + length - t0);
      if (b > 0) --saved;
      std::fill_n(sums, 2 * N * kBlock * lanes, Real(0));
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
            auto slope = hn::Set(d, Real(1));
            if (in.delta_softplus) Softplus(d, dt_t, dt_t, slope);
            largest_step = hn::Max(largest_step, hn::Abs(dt_t));
            hn::Store(u_t, d, u + at);
            hn::Store(dt_t, d, dt + at);
            hn::Store(slope, d, dt_slope + at);
            hn::Store(hn::Mul(dt_t, u_t), d, dx + at);
            hn::Store(hn::Mul(hn::Load(d, D + (c - first)), u_t), d, y + at);
            hn::Store(hn::Zero(d), d, gdx + at);
            hn::Store(hn::Zero(d), d, gdt + at);
            auto gy_t = LoadChannels(d, grad.dy + (t0 + t) * grad.dy_stride + c, count);
            if (in.z != nullptr) {
              auto gate = hn::Zero(d);
              Silu(d, LoadChannels(d, in.z + (t0 + t) * in.z_stride + c, count), gate, slope);
              hn::Store(hn::Mul(gy_t, slope), d, z_slope + at);
              gy_t = hn::Mul(gy_t, gate);
            }
            hn::Store(gy_t, d, gy + at);
          }
        }

        const bool moderate = hn::GetLane(hn::MaxOfLanes(d, largest_step)) <= moderate_step;
        const auto scan = [&](auto clamp, auto states, int64_t n) HWY_ATTR {
          for (int64_t c = panel; c < panel_end; c += lanes) {
            const int64_t at = (c - panel) * kBlock;
            const int64_t at_state = (c - first) * N;
            const BackwardBlock<Real> block{dt + at,  dx + at,  gy + at, out.dz != nullptr ? y + at : nullptr,
                                            gdx + at, gdt + at, block_h, block_e};
            const Real* h_before = b > 0 ? grad.block_states + SavedState(in, saved, c) : h + at_state;
            const int64_t h_stride = b > 0 ? kSelectiveScanLanes : lanes;
            // Rows before the block, of u where there are no others.
            const auto before = [&](const Real* rows, int64_t stride) {
              if (rows == nullptr) rows = in.u, stride = in.u_stride;
              return RowsAhead<Real>{rows + (t0 - kBlock) * stride + c, stride};
            };
            const RowsAhead<Real> ahead[] = {
                before(in.u, in.u_stride),
                before(in.delta, in.delta_stride),
                before(grad.dy, grad.dy_stride),
                b > 0 ? RowsAhead<Real>{grad.block_states + SavedState(in, saved - 1, c), kSelectiveScanLanes}
                      : before(in.u, in.u_stride),
                before(out.du, in.channels),
                before(out.ddelta, in.channels),
                before(in.z, in.z_stride),
                before(out.dz, in.channels)};
            BackwardStates<kExtended, clamp.value, states.value>(
                d, tokens, block, A + at_state + n * lanes, in.B + t0 * in.B_stride + n, in.B_stride,
                in.C + t0 * in.C_stride + n, in.C_stride, h_before + n * h_stride, h_stride, gh + at_state + n * lanes,
                dA + at_state + n * lanes, sums + n * kBlock * 2 * lanes, ahead + n / kTogether * 2 % 8);
          }
        };
        if (moderate) {
          ForAllStates(N, [&](auto states, int64_t n) HWY_ATTR { scan(std::false_type(), states, n); });
        } else {
          ForAllStates(N, [&](auto states, int64_t n) HWY_ATTR { scan(std::true_type(), states, n); });
        }

        const auto ln2 = hn::Set(d, Real(0.6931471805599453));
        for (int64_t t = 0; t < tokens; ++t) {
          for (int64_t c = panel; c < panel_end; c += lanes) {
            const size_t count = std::min(lanes, panel_end - c);
            const int64_t at = (c - panel) * kBlock + t * lanes;
            const int64_t row = (t0 + t) * in.channels + c;
            const auto u_t = hn::Load(d, u + at);
            const auto gy_t = hn::Load(d, gy + at);
            const auto gdx_t = hn::Load(d, gdx + at);
            const auto gdt_t = hn::MulAdd(hn::Load(d, gdt + at), ln2, hn::Mul(gdx_t, u_t));
            const auto ddelta = hn::Mul(gdt_t, hn::Load(d, dt_slope + at));
            const auto du = hn::MulAdd(gdx_t, hn::Load(d, dt + at), hn::Mul(gy_t, hn::Load(d, D + (c - first))));
            StoreChannels(du, d, out.du + row, count);
            StoreChannels(ddelta, d, out.ddelta + row, count);
            if (out.dz != nullptr) {
              StoreChannels(hn::Mul(hn::Load(d, z_slope + at), hn::Load(d, y + at)), d, out.dz + row, count);
            }
            Real* dD_c = dD + (c - first);
            Real* dbias_c = dbias + (c - first);
            hn::Store(hn::MulAdd(gy_t, u_t, hn::Load(d, dD_c)), d, dD_c);
            hn::Store(hn::Add(ddelta, hn::Load(d, dbias_c)), d, dbias_c);
          }
        }
      }
      for (int64_t t = 0; t < tokens; ++t) {
        SumLanes(d, N, sums + t * 2 * lanes, kBlock * 2 * lanes, out.dB + (t0 + t) * N);
        SumLanes(d, N, sums + (t * 2 + 1) * lanes, kBlock * 2 * lanes, out.dC + (t0 + t) * N);
      }
    }
    StoreStates(d, gh, in, s, first, end, out.dinitial_state);
  }
  StoreStates(d, dA, in, 0, first, end, out.dA);
  std::copy_n(dD, end - first, out.dD + first);
  std::copy_n(dbias, end - first, out.ddelta_bias + first);
}

}  // namespace lrnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
