// The backward pass of the delta rule for one sequence and one head, compiled once for each SIMD target. Lanes run over
// the rows of the state (the tile is held transposed); one sweep finishes a step and starts the one before it.
// docs/math/delta_rule.md.

#include <algorithm>
#include <iterator>

#include "lrnn/kernels/delta_rule-inl.h"
#include "lrnn/kernels/delta_rule.h"

#if defined(LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_
#undef LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// How many columns a backward sweep holds in registers at once: three broadcasts and one accumulator each.
constexpr size_t kColumns = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr int64_t kBackwardTile = 32;

// The second half of one step and the first half of the step before it, for kColumns columns c of the transposed tile.
//   G: dS of the columns, in and out   [c, K]        S: state before the step   [c, K]
//   G <- decay (G + q dO_c - k dE_c)       dk -= sum_c S_c dE_c       dq += sum_c S_c dO_c
//   dot_c = G_c^T k_before                 dk_before += sum_c G_c w_before_c
// `d_decay` collects sum_c (G + q dO_c - k dE_c) . S_c. S is the state before the decay, so dk and dq take decay S_c
// for S_c.
template <bool kDecay, typename T>
HWY_INLINE void BackwardSweep(int64_t padded_K, T decay, const T* HWY_RESTRICT q, const T* HWY_RESTRICT k,
                              const T* HWY_RESTRICT k_before, const T* HWY_RESTRICT d_read,
                              const T* HWY_RESTRICT d_error, const T* HWY_RESTRICT w_before, const T* HWY_RESTRICT S,
                              T* HWY_RESTRICT G, T* HWY_RESTRICT dq, T* HWY_RESTRICT dk, T* HWY_RESTRICT dk_before,
                              T* HWY_RESTRICT dots, T* HWY_RESTRICT d_decay) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto a = hn::Set(d, decay);
  Vector<T> read[kColumns], error[kColumns], w[kColumns], dot[kColumns];
  for (size_t c = 0; c < kColumns; ++c) {
    read[c] = hn::Set(d, d_read[c]);
    error[c] = hn::Set(d, d_error[c]);
    w[c] = hn::Set(d, w_before[c]);
    dot[c] = hn::Zero(d);
  }
  auto decay_sum = hn::Zero(d);
  for (int64_t i = 0; i < padded_K; i += lanes) {
    const auto qi = hn::Load(d, q + i);
    const auto ki = hn::Load(d, k + i);
    const auto bi = hn::Load(d, k_before + i);
    auto read_sum = hn::Zero(d);
    auto error_sum = hn::Zero(d);
    auto before_sum = hn::Load(d, dk_before + i);
    for (size_t c = 0; c < kColumns; ++c) {
      const auto s = hn::Load(d, S + c * padded_K + i);
      auto g = hn::Load(d, G + c * padded_K + i);
      g = hn::MulAdd(qi, read[c], g);
      g = hn::NegMulAdd(ki, error[c], g);
      read_sum = hn::MulAdd(s, read[c], read_sum);
      error_sum = hn::MulAdd(s, error[c], error_sum);
      if constexpr (kDecay) {
        decay_sum = hn::MulAdd(g, s, decay_sum);
        g = hn::Mul(a, g);
      }
      hn::Store(g, d, G + c * padded_K + i);
      dot[c] = hn::MulAdd(g, bi, dot[c]);
      before_sum = hn::MulAdd(g, w[c], before_sum);
    }
    hn::Store(hn::MulAdd(a, read_sum, hn::Load(d, dq + i)), d, dq + i);
    hn::Store(hn::NegMulAdd(a, error_sum, hn::Load(d, dk + i)), d, dk + i);
    hn::Store(before_sum, d, dk_before + i);
  }
  for (size_t c = 0; c < kColumns; ++c) dots[c] = hn::GetLane(hn::SumOfLanes(d, dot[c]));
  if constexpr (kDecay) *d_decay += hn::GetLane(hn::SumOfLanes(d, decay_sum));
}

// y <- y + x a, over padded rows.
template <typename T>
HWY_INLINE void AddScaled(int64_t padded_K, T a, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const Tag<T> d;
  const auto av = hn::Set(d, a);
  for (int64_t i = 0; i < padded_K; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::MulAdd(av, hn::Load(d, x + i), hn::Load(d, y + i)), d, y + i);
  }
}

template <typename T>
T Dot(int64_t padded_K, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  const Tag<T> d;
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < padded_K; i += static_cast<int64_t>(hn::Lanes(d))) {
    sum = hn::MulAdd(hn::Load(d, x + i), hn::Load(d, y + i), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// The backward pass of one tile of columns. Rows of length K are padded with zeros to whole vectors, columns to
// kBackwardTile.
template <typename T>
class BackwardTile {
 public:
  BackwardTile(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, const DeltaRuleSaved<T>& saved, const T* d_o,
               const T* d_final_state, const DeltaRuleGradients<T>& out, int64_t sequence, int64_t head)
      : in_(in),
        saved_(saved),
        d_o_(d_o),
        d_final_state_(d_final_state),
        out_(out),
        at_(shape, head),
        sequence_(sequence),
        begin_(shape.cu_seqlens[sequence]),
        end_(shape.cu_seqlens[sequence + 1]),
        block_(DeltaRuleBlockTokens(shape.householders)),
        lanes_(static_cast<int64_t>(hn::Lanes(Tag<T>()))),
        padded_(hwy::RoundUpTo(at_.K, lanes_)) {
    const int64_t steps = block_ * at_.n;
    const int64_t sizes[] = {(steps + 1) * kBackwardTile * padded_,
                             kBackwardTile * padded_,
                             (steps + 1) * padded_,
                             (steps + 1) * padded_,
                             block_ * padded_,
                             block_ * padded_,
                             (steps + 1) * kBackwardTile,
                             block_ * kBackwardTile,
                             kBackwardTile,
                             kBackwardTile,
                             kBackwardTile,
                             padded_};
    T** const places[] = {&S_, &G_, &k_, &dk_, &q_, &dq_, &w_, &d_read_, &dots_, &d_error_, &zeros_, &unused_};
    int64_t total = 0;
    for (int64_t size : sizes) total += size;
    scratch_ = hwy::AllocateAligned<T>(total);
    std::fill_n(scratch_.get(), total, T{0});
    T* place = scratch_.get();
    for (size_t i = 0; i < std::size(sizes); ++i) {
      *places[i] = place;
      place += sizes[i];
    }
  }

  // Columns column .. column + kBackwardTile - 1. The first tile writes dq, dk, d_beta and d_decay, the others add to
  // them.
  void Run(int64_t column, int64_t first_block_state) {
    column_ = column;
    columns_ = std::min<int64_t>(kBackwardTile, at_.V - column);
    LoadTransposed(d_final_state_ ? d_final_state_ + at_.state(sequence_) : nullptr, G_);
    for (int64_t block = (end_ - begin_ + block_ - 1) / block_ - 1; block >= 0; --block) {
      const T* state = block > 0           ? saved_.block_states + at_.state(first_block_state + block - 1)
                       : in_.initial_state ? in_.initial_state + at_.state(sequence_)
                                           : nullptr;
      RunBlock(begin_ + block * block_, std::min(end_, begin_ + (block + 1) * block_), state);
    }
    if (out_.initial_state) StoreTransposed(out_.initial_state + at_.state(sequence_));
  }

 private:
  // state: [K, V] or null (zeros) -> tile: [column, padded K]
  void LoadTransposed(const T* state, T* tile) const {
    std::fill_n(tile, kBackwardTile * padded_, T{0});
    if (!state) return;
    for (int64_t i = 0; i < at_.K; ++i) {
      for (int64_t c = 0; c < columns_; ++c) tile[c * padded_ + i] = state[i * at_.V + column_ + c];
    }
  }
  void StoreTransposed(T* state) const {
    for (int64_t i = 0; i < at_.K; ++i) {
      for (int64_t c = 0; c < columns_; ++c) state[i * at_.V + column_ + c] = G_[c * padded_ + i];
    }
  }

  void RunBlock(int64_t begin, int64_t end, const T* state) {
    const int64_t n = at_.n, steps = (end - begin) * n;
    LoadInputs(begin, end);
    LoadTransposed(state, S_);
    for (int64_t s = 0; s + 1 < steps; ++s) Advance(s, begin);

    // G enters as dS after the last step of the block: start its dots and dk as a sweep would have.
    const int64_t last = steps - 1;
    for (int64_t c = 0; c < kBackwardTile; ++c) {
      dots_[c] = Dot(padded_, G_ + c * padded_, k_ + last * padded_);
      AddScaled(padded_, w_[last * kBackwardTile + c], G_ + c * padded_, dk_ + last * padded_);
    }
    for (int64_t s = last; s >= 0; --s) BackStep(s, begin + s / n, s % n);
    StoreRowGradients(begin, end);
  }

  void LoadInputs(int64_t begin, int64_t end) {
    const int64_t n = at_.n;
    for (int64_t s = 0; s < (end - begin) * n; ++s) {
      const int64_t step = begin * n + s;
      std::copy_n(in_.k + at_.k(step), at_.K, k_ + s * padded_);
      std::fill_n(dk_ + s * padded_, padded_, T{0});
      const T beta = in_.beta[at_.beta(step)];
      const T* error = saved_.errors + at_.v(step) + column_;
      T* w = w_ + s * kBackwardTile;
      std::fill_n(w, kBackwardTile, T{0});
      for (int64_t c = 0; c < columns_; ++c) w[c] = beta * error[c];
    }
    for (int64_t token = begin; token < end; ++token) {
      const int64_t row = token - begin;
      std::copy_n(in_.q + at_.q(token), at_.K, q_ + row * padded_);
      std::fill_n(dq_ + row * padded_, padded_, T{0});
      T* d_read = d_read_ + row * kBackwardTile;
      std::fill_n(d_read, kBackwardTile, T{0});
      for (int64_t c = 0; c < columns_; ++c) d_read[c] = in_.scale * d_o_[at_.o(token) + column_ + c];
    }
  }

  T DecayOf(int64_t token, int64_t j) const { return in_.decay && j == 0 ? in_.decay[at_.decay(token)] : T{1}; }

  // The state before step s + 1 from that before step s:  S <- decay S + k w^T, transposed.
  void Advance(int64_t s, int64_t begin) {
    const Tag<T> d;
    const auto a = hn::Set(d, DecayOf(begin + s / at_.n, s % at_.n));
    const T* HWY_RESTRICT k = k_ + s * padded_;
    const T* HWY_RESTRICT from = S_ + s * kBackwardTile * padded_;
    T* HWY_RESTRICT to = S_ + (s + 1) * kBackwardTile * padded_;
    for (int64_t c = 0; c < kBackwardTile; ++c) {
      const auto w = hn::Set(d, w_[s * kBackwardTile + c]);
      for (int64_t i = 0; i < padded_; i += lanes_) {
        const auto next = hn::MulAdd(w, hn::Load(d, k + i), hn::Mul(a, hn::Load(d, from + c * padded_ + i)));
        hn::Store(next, d, to + c * padded_ + i);
      }
    }
  }

  // On entry dots_ = G^T k of step s and dk_ of step s holds sum_c G_c w_c, where G = dS after the step without its
  // read.
  void BackStep(int64_t s, int64_t token, int64_t j) {
    const bool reads = j == at_.n - 1;
    const int64_t step = token * at_.n + j, row = s / at_.n;
    T* k = k_ + s * padded_;
    T* dk = dk_ + s * padded_;
    T* q = q_ + row * padded_;
    const T* d_read = reads ? d_read_ + row * kBackwardTile : zeros_;
    const T* w = w_ + s * kBackwardTile;
    const T* error = saved_.errors + at_.v(step) + column_;
    const T beta = in_.beta[at_.beta(step)];

    // With the read o = scale (S + k w^T)^T q:  dw = G^T k + d_read (q.k),  and rank-one terms of dq and dk.
    const T qk = reads ? Dot(padded_, q, k) : T{0};
    T read_w = 0, d_beta = 0;
    for (int64_t c = 0; c < columns_; ++c) {
      const T dw = dots_[c] + d_read[c] * qk;
      d_beta += dw * error[c];
      d_error_[c] = beta * dw;
      out_.v[at_.v(step) + column_ + c] = d_error_[c];
      read_w += d_read[c] * w[c];
    }
    std::fill(d_error_ + columns_, d_error_ + kBackwardTile, T{0});
    T& d_beta_out = out_.beta[at_.beta(step)];
    d_beta_out = column_ == 0 ? d_beta : d_beta_out + d_beta;
    if (reads) {
      AddScaled(padded_, read_w, k, dq_ + row * padded_);
      AddScaled(padded_, read_w, q, dk);
    }

    const bool has_before = s > 0;  // the block's first step hands G itself to the block before
    const T* k_before = has_before ? k - padded_ : k;
    T* dk_before = has_before ? dk - padded_ : unused_;
    const T* w_before = has_before ? w - kBackwardTile : zeros_;
    const bool has_decay = in_.decay && j == 0;
    const T decay = DecayOf(token, j);
    T d_decay = 0;
    for (int64_t c = 0; c < kBackwardTile; c += static_cast<int64_t>(kColumns)) {
      const T* S = S_ + (s * kBackwardTile + c) * padded_;
      T* G = G_ + c * padded_;
      if (has_decay) {
        BackwardSweep<true>(padded_, decay, q, k, k_before, d_read + c, d_error_ + c, w_before + c, S, G,
                            dq_ + row * padded_, dk, dk_before, dots_ + c, &d_decay);
      } else {
        BackwardSweep<false>(padded_, decay, q, k, k_before, d_read + c, d_error_ + c, w_before + c, S, G,
                             dq_ + row * padded_, dk, dk_before, dots_ + c, &d_decay);
      }
    }
    if (has_decay) {
      T& d_decay_out = out_.decay[at_.decay(token)];
      d_decay_out = column_ == 0 ? d_decay : d_decay_out + d_decay;
    }
  }

  void StoreRowGradients(int64_t begin, int64_t end) {
    const auto add = [&](const T* from, T* to) {
      if (column_ == 0) {
        std::copy_n(from, at_.K, to);
      } else {
        for (int64_t i = 0; i < at_.K; ++i) to[i] += from[i];
      }
    };
    for (int64_t token = begin; token < end; ++token) add(dq_ + (token - begin) * padded_, out_.q + at_.q(token));
    for (int64_t step = begin * at_.n; step < end * at_.n; ++step) {
      add(dk_ + (step - begin * at_.n) * padded_, out_.k + at_.k(step));
    }
  }

  const DeltaRuleInputs<T>& in_;
  const DeltaRuleSaved<T>& saved_;
  const T* d_o_;
  const T* d_final_state_;
  const DeltaRuleGradients<T>& out_;
  const HeadRows<T> at_;
  const int64_t sequence_, begin_, end_, block_, lanes_, padded_;
  int64_t column_ = 0, columns_ = 0;

  hwy::AlignedFreeUniquePtr<T[]> scratch_;
  T* S_;                         // [step, column, K] states before each step of the block
  T* G_;                         // [column, K] dS
  T *k_, *dk_;                   // [step, K]
  T *q_, *dq_;                   // [token, K]
  T* w_;                         // [step, column] beta e
  T* d_read_;                    // [token, column] scale d_o: all that d_o flows into carries the scale through it
  T *dots_, *d_error_, *zeros_;  // [column]
  T* unused_;                    // [K] takes what a block's first step would hand to a step before
};

template <typename T>
void Backward(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, const DeltaRuleSaved<T>& saved, const T* d_o,
              const T* d_final_state, const DeltaRuleGradients<T>& out, int64_t sequence, int64_t head,
              int64_t first_block_state) {
  BackwardTile<T> tile(shape, in, saved, d_o, d_final_state, out, sequence, head);
  for (int64_t column = 0; column < shape.value_width; column += kBackwardTile) tile.Run(column, first_block_state);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
