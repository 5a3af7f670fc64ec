// The passes through time of the gated non-linear RNNs for one group of sequences and one head, compiled once for each
// SIMD target. A cell says how many numbers of state and of saved activations a unit has, and computes one vector of
// units forward and backward.

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "lrnn/kernels/gated_rnn_plan.h"
#include "lrnn/kernels/prefetch.h"
#include "lrnn/kernels/small_product-inl.h"

#if defined(LRNN_KERNELS_GATED_RNN_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_GATED_RNN_INL_
#undef LRNN_KERNELS_GATED_RNN_INL_
#else
#define LRNN_KERNELS_GATED_RNN_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The first `count` lanes, 0 in the others.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const T* from, int64_t count) {
  if (HWY_LIKELY(count >= static_cast<int64_t>(hn::Lanes(d)))) return hn::LoadU(d, from);
  HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
  std::copy_n(from, count, lanes);
  return hn::Load(d, lanes);
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void StoreFirst(hn::Vec<D> v, D d, T* to, int64_t count) {
  if (HWY_LIKELY(count >= static_cast<int64_t>(hn::Lanes(d)))) return hn::StoreU(v, d, to);
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  std::copy_n(lanes, count, to);
}

// What both passes know of their group and head. Rows are the sequences of the group, longest first.
template <class Cell, typename T>
class GatedRnnPass {
 protected:
  static constexpr int64_t kStates = Cell::kStates, kSaved = Cell::kSaved;

  GatedRnnPass(const GatedRnnShape& shape, const GatedRnnInputs<T>& in, const GatedRnnGroup& group, int64_t head)
      : H(shape.heads),
        K(shape.width),
        P(GatedRnnPaddedWidth(K)),
        gate_stride(4 * P + kApart),
        shape_(shape),
        in_(in),
        group_(group),
        head_(head) {}

  // Rows a multiple of 4096 bytes apart would compete for the same few lines of the cache.
  static constexpr int64_t kApart = 16;

  int64_t FirstToken(int64_t row) const { return shape_.cu_seqlens[group_.sequences[row]]; }
  int64_t Length(int64_t row) const { return shape_.cu_seqlens[group_.sequences[row] + 1] - FirstToken(row); }

  // `state` of a sequence's [S, H, K]: 0 is y, the cell's own follow.
  int64_t State(int64_t row, int64_t state) const {
    return ((group_.sequences[row] * (kStates + 1) + state) * H + head_) * K;
  }

  // Where the saved activations of this group and head start: [tokens, kSaved, P], step by step, row by row.
  int64_t SavedBegin() const { return (group_.first_token * H + head_ * group_.tokens) * kSaved * P; }

  // One allocation for all arrays, filled with 0.
  void Allocate(std::initializer_list<std::pair<T**, int64_t>> arrays) {
    int64_t total = 0;
    for (const auto& [pointer, size] : arrays) total += size + kApart;
    memory_ = hwy::AllocateAligned<T>(total);
    std::fill_n(memory_.get(), total, T{0});
    T* next = memory_.get();
    for (const auto& [pointer, size] : arrays) {
      *pointer = next;
      next += size + kApart;
    }
  }

  const int64_t H, K, P, gate_stride;
  const GatedRnnShape& shape_;
  const GatedRnnInputs<T>& in_;
  const GatedRnnGroup& group_;
  const int64_t head_;
  hwy::AlignedFreeUniquePtr<T[]> memory_;
};

template <class Cell, typename T>
class GatedRnnForward : GatedRnnPass<Cell, T> {
 public:
  using Base = GatedRnnPass<Cell, T>;
  using Base::group_, Base::head_, Base::in_, Base::kSaved, Base::kStates, Base::H, Base::K, Base::P, Base::gate_stride;

  GatedRnnForward(const GatedRnnShape& shape, const GatedRnnInputs<T>& in, const GatedRnnOutputs<T>& out,
                  const GatedRnnGroup& group, int64_t head)
      : Base(shape, in, group, head), out_(out) {
    const int64_t rows = group.count;
    this->Allocate({{&R_, K * gate_stride},
                    {&bias_, 4 * P},
                    {&gates_, rows * gate_stride},
                    {&y_, rows * P},
                    {&states_, rows * kStates * P}});
    for (int64_t gate = 0; gate < 4; ++gate) {
      for (int64_t l = 0; l < K; ++l) {
        std::copy_n(in.R + ((head * K + l) * 4 + gate) * K, K, R_ + l * gate_stride + gate * P);
      }
      if (in.bias) std::copy_n(in.bias + (head * 4 + gate) * K, K, bias_ + gate * P);
    }
    for (int64_t row = 0; in.initial_state && row < rows; ++row) {
      std::copy_n(in.initial_state + this->State(row, 0), K, y_ + row * P);
      for (int64_t s = 0; s < kStates; ++s) {
        std::copy_n(in.initial_state + this->State(row, s + 1), K, states_ + (row * kStates + s) * P);
      }
    }
  }

  void Run() {
    T* saved = out_.saved ? out_.saved + this->SavedBegin() : nullptr;
    int64_t running = group_.count;
    for (int64_t t = 0;; ++t) {
      while (running > 0 && this->Length(running - 1) <= t) --running;
      if (running == 0) break;
      if (t > 0 || in_.initial_state) {  // gates_ is 0 before
        Product<ProductStart::kZero, false>(ProductPart::kFull, running, 4 * P, K, y_, P, R_, gate_stride, gates_,
                                            gate_stride);
      }
      for (int64_t row = 0; row < running; ++row) {
        StepRow(row, this->FirstToken(row) + t, saved);
        if (saved) saved += kSaved * P;
      }
    }
    for (int64_t row = 0; out_.final_state && row < group_.count; ++row) {
      std::copy_n(y_ + row * P, K, out_.final_state + this->State(row, 0));
      for (int64_t s = 0; s < kStates; ++s) {
        std::copy_n(states_ + (row * kStates + s) * P, K, out_.final_state + this->State(row, s + 1));
      }
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  // Without the pragmas the vectors stay in memory at -O2.
  void StepRow(int64_t row, int64_t token, T* HWY_RESTRICT saved) {
    const D d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const T* HWY_RESTRICT x = in_.x + token * in_.x_token_stride + head_ * in_.x_head_stride;
    const T* HWY_RESTRICT recurrent = gates_ + row * gate_stride;
    T* HWY_RESTRICT states = states_ + row * kStates * P;
    T* HWY_RESTRICT y = out_.y + (token * H + head_) * K;
    PrefetchRow(x + in_.x_token_stride, 4 * K);
    PrefetchRow(y + H * K, K);
    if (saved) PrefetchRow(saved + 2 * kSaved * P, kSaved * P);
    for (int64_t u = 0; u < K; u += lanes) {
      V gates[4], state[kStates], activations[kSaved];
#pragma GCC unroll 8
      for (int64_t i = 0; i < 4; ++i) {
        gates[i] = hn::Add(hn::Add(hn::Load(d, recurrent + i * P + u), hn::Load(d, bias_ + i * P + u)),
                           LoadFirst(d, x + i * K + u, K - u));
      }
#pragma GCC unroll 8
      for (int64_t s = 0; s < kStates; ++s) state[s] = hn::Load(d, states + s * P + u);
      const V out = Cell::Forward(d, gates, state, activations);
#pragma GCC unroll 8
      for (int64_t s = 0; s < kStates; ++s) hn::Store(state[s], d, states + s * P + u);
      hn::Store(out, d, y_ + row * P + u);
      StoreFirst(out, d, y + u, K - u);
      if (!saved) continue;
#pragma GCC unroll 8
      for (int64_t s = 0; s < kSaved; ++s) hn::StoreU(activations[s], d, saved + s * P + u);
    }
  }

  const GatedRnnOutputs<T>& out_;
  T* R_;       // [K, 4, P]
  T* bias_;    // [4, P]
  T* gates_;   // [rows, 4, P]: y R
  T* y_;       // [rows, P]
  T* states_;  // [rows, kStates, P]
};

// The derivatives of a step's gates are the derivatives of its x; times R they are what the step before receives.
template <class Cell, typename T>
class GatedRnnBackward : GatedRnnPass<Cell, T> {
 public:
  using Base = GatedRnnPass<Cell, T>;
  using Base::group_, Base::head_, Base::in_, Base::kApart, Base::kSaved, Base::kStates, Base::H, Base::K, Base::P,
      Base::gate_stride;

  // d_bias: [4, K], of this group and head.
  GatedRnnBackward(const GatedRnnShape& shape, const GatedRnnInputs<T>& in, const T* saved, const T* d_y,
                   const T* d_final_state, const GatedRnnGradients<T>& out, const GatedRnnGroup& group, int64_t head,
                   T* d_bias)
      : Base(shape, in, group, head),
        saved_(saved),
        d_y_(d_y),
        d_final_state_(d_final_state),
        out_(out),
        d_bias_(d_bias) {
    const int64_t rows = group.count;
    this->Allocate({{&R_, 4 * P * (P + kApart)},
                    {&bias_sum_, 4 * P},
                    {&d_gates_, rows * gate_stride},
                    {&d_out_, rows * P},
                    {&d_states_, rows * kStates * P},
                    {&start_, Cell::kRemembered * P}});
    constexpr int64_t kBlock = 16;  // of rows that stay in the cache while their columns are read
    for (int64_t first = 0; first < K; first += kBlock) {
      for (int64_t i = 0; i < 4 * K; ++i) {
        T* row = R_ + (i / K * P + i % K) * (P + kApart);
        for (int64_t l = first; l < std::min(K, first + kBlock); ++l) row[l] = in.R[(head * K + l) * 4 * K + i];
      }
    }
    for (int64_t row = 0; d_final_state && row < rows; ++row) {
      for (int64_t s = 0; s < kStates; ++s) {
        std::copy_n(d_final_state + this->State(row, s + 1), K, d_states_ + (row * kStates + s) * P);
      }
    }
  }

  void Run() {
    const T* saved = saved_ + this->SavedBegin() + group_.tokens * kSaved * P;
    int64_t next = 0, running = 0;  // rows with a token t + 1, with a token t
    for (int64_t t = this->Length(0) - 1; t >= 0; --t, next = running) {
      while (running<group_.count&& this->Length(running)> t) ++running;
      for (int64_t row = 0; row < running; ++row) {
        std::copy_n(d_y_ + ((this->FirstToken(row) + t) * H + head_) * K, K, d_out_ + row * P);
        if (row >= next) AddFinal(row);
      }
      MultiplyByR(next);
      saved -= running * kSaved * P;
      // Rows that have a token t - 1, those of `running` first.
      int64_t previous = running;
      while (t > 0 && previous<group_.count&& this->Length(previous)> t - 1) ++previous;
      const T* before = saved - previous * kSaved * P;
      for (int64_t row = 0; row < running; ++row) {
        StepRow(row, this->FirstToken(row) + t, saved + row * kSaved * P,
                t > 0 ? before + row * kSaved * P : Start(row));
      }
    }
    if (out_.initial_state) StoreInitial(running);
    for (int64_t i = 0; i < 4 * K; ++i) d_bias_[i] = bias_sum_[i / K * P + i % K];
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  void AddFinal(int64_t row) {
    if (!d_final_state_) return;
    const T* d_final = d_final_state_ + this->State(row, 0);
    for (int64_t u = 0; u < K; ++u) d_out_[row * P + u] += d_final[u];
  }

  void MultiplyByR(int64_t rows) {
    Product<ProductStart::kAdd, false>(ProductPart::kFull, rows, P, 4 * P, d_gates_, gate_stride, R_, P + kApart,
                                       d_out_, P);
  }

  // What `saved` would hold of the token before the first: the initial state.
  const T* Start(int64_t row) {
    for (int64_t s = 0; in_.initial_state && s < Cell::kRemembered; ++s) {
      std::copy_n(in_.initial_state + this->State(row, s + 1), K, start_ + s * P);
    }
    return start_;
  }

  void StepRow(int64_t row, int64_t token, const T* HWY_RESTRICT saved, const T* HWY_RESTRICT before) {
    const D d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    T* HWY_RESTRICT d_x = out_.x + token * out_.x_token_stride + head_ * out_.x_head_stride;
    T* HWY_RESTRICT d_gates = d_gates_ + row * gate_stride;
    T* HWY_RESTRICT d_states = d_states_ + row * kStates * P;
    PrefetchRow(d_x - out_.x_token_stride, 4 * K);
    PrefetchRow(d_y_ + ((token - 1) * H + head_) * K, K);
    PrefetchRow(before, kSaved * P);
    for (int64_t u = 0; u < K; u += lanes) {
      V activations[kSaved], previous[Cell::kRemembered], d_state[kStates], d_gate[4];
#pragma GCC unroll 8
      for (int64_t s = 0; s < kSaved; ++s) activations[s] = hn::LoadU(d, saved + s * P + u);
#pragma GCC unroll 8
      for (int64_t s = 0; s < Cell::kRemembered; ++s) previous[s] = hn::LoadU(d, before + s * P + u);
#pragma GCC unroll 8
      for (int64_t s = 0; s < kStates; ++s) d_state[s] = hn::Load(d, d_states + s * P + u);
      Cell::Backward(d, activations, previous, hn::Load(d, d_out_ + row * P + u), d_state, d_gate);
#pragma GCC unroll 8
      for (int64_t s = 0; s < kStates; ++s) hn::Store(d_state[s], d, d_states + s * P + u);
#pragma GCC unroll 8
      for (int64_t i = 0; i < 4; ++i) {
        hn::Store(d_gate[i], d, d_gates + i * P + u);
        StoreFirst(d_gate[i], d, d_x + i * K + u, K - u);
        T* sum = bias_sum_ + i * P + u;
        hn::Store(hn::Add(hn::Load(d, sum), d_gate[i]), d, sum);
      }
    }
  }

  // `running`: rows that have a token. A sequence without tokens ends where it starts.
  void StoreInitial(int64_t running) {
    std::fill_n(d_out_, group_.count * P, T{0});
    for (int64_t row = running; row < group_.count; ++row) AddFinal(row);
    MultiplyByR(running);
    for (int64_t row = 0; row < group_.count; ++row) {
      std::copy_n(d_out_ + row * P, K, out_.initial_state + this->State(row, 0));
      for (int64_t s = 0; s < kStates; ++s) {
        std::copy_n(d_states_ + (row * kStates + s) * P, K, out_.initial_state + this->State(row, s + 1));
      }
    }
  }

  const T* saved_;
  const T* d_y_;
  const T* d_final_state_;
  const GatedRnnGradients<T>& out_;
  T* d_bias_;
  T* R_;         // [4, P, P], the transpose
  T* bias_sum_;  // [4, P]
  T* d_gates_;   // [rows, 4, P]
  T* d_out_;     // [rows, P]
  T* d_states_;  // [rows, kStates, P]
  T* start_;     // [kRemembered, P]
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
