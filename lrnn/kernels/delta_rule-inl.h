// The forward pass of the delta rule for one sequence and one head, compiled once for each SIMD target.
// docs/math/delta_rule.md derives it.
//
// Lanes run over the columns of S, which evolve independently given (k, beta, decay). A chunk of four steps reads the
// state before it with its keys and queries, solves for its updates in a few columns' registers, and applies them at
// once.

#include <algorithm>

#include "lrnn/kernels/delta_rule.h"
#include "lrnn/kernels/delta_rule_chunk-inl.h"

#if defined(LRNN_KERNELS_DELTA_RULE_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_INL_
#undef LRNN_KERNELS_DELTA_RULE_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// A tile of columns is two vectors wide: with four slots that keeps both FMA units busy from 16 registers.
constexpr int kVectors = 2;

// S <- decay S + sum_c k_c w_c^T for a tile S: [K, tile]; w: [slots, tile].
template <bool kDecay, typename T>
HWY_INLINE void UpdateTile(int64_t K, T decay, const T* HWY_RESTRICT rows, const T* HWY_RESTRICT w, T* HWY_RESTRICT S) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  const auto a = hn::Set(d, decay);
  Vector<T> wv[kSlots][kVectors];
  LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) wv[c][j] = hn::Load(d, w + (c * kVectors + j) * lanes);
  }
  for (int64_t first = 0; first < K; first += kPanel, rows += kRows * kRow) {
    const int64_t count = std::min(kPanel, K - first);
    for (int64_t i = 0; i < count; ++i, S += kVectors * lanes) {
      Vector<T> s[kVectors];
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        s[j] = hn::Load(d, S + j * lanes);
        if constexpr (kDecay) s[j] = hn::Mul(a, s[j]);
      }
      LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
        const auto k = hn::Set(d, rows[c * kRow + i]);
        LRNN_UNROLL for (int j = 0; j < kVectors; ++j) s[j] = hn::MulAdd(k, wv[c][j], s[j]);
      }
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) hn::Store(s[j], d, S + j * lanes);
    }
  }
}

// out_c <- S^T x_c for kCount rows x_c; out: [kCount, tile].
template <int kCount, typename T>
HWY_INLINE void ReadTile(int64_t K, const T* HWY_RESTRICT rows, const T* HWY_RESTRICT S, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  Vector<T> sum[kCount][kVectors];
  LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) sum[c][j] = hn::Zero(d);
  }
  for (int64_t first = 0; first < K; first += kPanel, rows += kRows * kRow) {
    const int64_t count = std::min(kPanel, K - first);
    for (int64_t i = 0; i < count; ++i, S += kVectors * lanes) {
      Vector<T> s[kVectors];
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) s[j] = hn::Load(d, S + j * lanes);
      LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
        const auto x = hn::Set(d, rows[c * kRow + i]);
        LRNN_UNROLL for (int j = 0; j < kVectors; ++j) sum[c][j] = hn::MulAdd(x, s[j], sum[c][j]);
      }
    }
  }
  LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) hn::Store(sum[c][j], d, out + (c * kVectors + j) * lanes);
  }
}

// The forward pass of one head, sequence by sequence.
template <int kReads, typename T>
class ForwardPass {
 public:
  ForwardPass(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, T* o, T* final_state,
              const DeltaRuleSaved<T>& saved, int64_t head)
      : shape_(shape),
        in_(in),
        o_(o),
        final_state_(final_state),
        saved_(saved),
        at_(shape, head),
        plan_(shape.householders),
        tile_(kVectors * LanesOf<T>()),
        tiles_((at_.V + tile_ - 1) / tile_) {
    const int64_t K = at_.K, rows = RowsSize(K);
    scratch_ = hwy::AllocateAligned<T>(tiles_ * tile_ * K + 3 * kSlots * tile_ + rows);
    S_ = scratch_.get();
    p_ = S_ + tiles_ * tile_ * K;
    r_ = p_ + tile_ * kSlots;
    w_ = r_ + tile_ * kSlots;
    rows_ = w_ + tile_ * kSlots;
  }

  void Run(int64_t sequence, int64_t first_saved) {
    const int64_t begin = shape_.cu_seqlens[sequence], end = shape_.cu_seqlens[sequence + 1];
    const int64_t chunks = plan_.ChunksOf(end - begin), save_every = SaveEvery(chunks);
    LoadState(in_.initial_state ? in_.initial_state + at_.state(sequence) : nullptr);
    std::fill_n(p_, 2 * tile_ * kSlots, T{0});  // p and r of a state of zeros
    bool zero = !in_.initial_state;
    for (int64_t m = 0; m < chunks; ++m) {
      if (saved_.states && m > 0 && m % save_every == 0) {
        StoreState(saved_.states + at_.state(first_saved + m / save_every - 1));
      }
      LoadChunk<kReads, true>(plan_, at_, in_, m, begin, end, rows_, chunk_);
      const bool update = m + 1 < chunks || final_state_;
      for (int64_t tile = 0; tile < tiles_; ++tile) {
        if (!zero) {
          ReadTile<kSlots>(at_.K, rows_, Tile(tile), p_);
          ReadTile<kReads>(at_.K, rows_ + kSlots * kRow, Tile(tile), r_);
        }
        Solve(tile);
        if (update) Update(tile);
      }
      zero = false;
    }
    if (final_state_) StoreState(final_state_ + at_.state(sequence));
  }

 private:
  T* Tile(int64_t tile) { return S_ + tile * tile_ * at_.K; }

  // Tiles <-> a state [K, V] in memory.
  void LoadState(const T* state) {
    std::fill_n(S_, tiles_ * tile_ * at_.K, T{0});
    if (!state) return;
    ForEachStatePart([&](T* part, int64_t at, int64_t count) { std::copy_n(state + at, count, part); });
  }
  void StoreState(T* state) {
    ForEachStatePart([&](const T* part, int64_t at, int64_t count) { std::copy_n(part, count, state + at); });
  }
  template <typename Body>
  void ForEachStatePart(const Body& body) {
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      const int64_t first = tile * tile_, count = std::min(tile_, at_.V - first);
      for (int64_t i = 0; i < at_.K; ++i) body(Tile(tile) + i * tile_, i * at_.V + first, count);
    }
  }

  void Update(int64_t tile) {
    if (in_.decay) {
      UpdateTile<true>(at_.K, chunk_.from_start[kSlots - 1], rows_, w_, Tile(tile));
    } else {
      UpdateTile<false>(at_.K, T{1}, rows_, w_, Tile(tile));
    }
  }

  // From p = S^T k and r = S^T q of the state before the chunk: the errors, the outputs, and w times P_3j.
  //   e_c = v_c - decay_0..c p_c - sum_{j < c} P_cj (k_c . k_j) w_j,     w_c = beta_c e_c
  //   o_r = scale (decay_0..c r_c + sum_{j <= c} P_cj (q_r . k_j) w_j)
  void Solve(int64_t tile) {
    const Tag<T> d;
    const int64_t lanes = LanesOf<T>();
    for (int j = 0; j < kVectors; ++j) {
      const int64_t first = tile * tile_ + j * lanes, count = at_.V - first;
      const T* p = p_ + j * lanes;
      const T* r = r_ + j * lanes;
      Vector<T> w[kSlots];
      LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
        const int64_t step = chunk_.step[c];
        auto e = hn::Zero(d);
        if (step >= 0 && count > 0) {
          e = LoadSome(in_.v + at_.v(step) + first, count);
          e = hn::NegMulAdd(hn::Set(d, chunk_.from_start[c]), hn::Load(d, p + c * tile_), e);
          LRNN_UNROLL for (int i = 0; i < c; ++i) {
            e = hn::NegMulAdd(hn::Set(d, chunk_.key_key_decayed[c][i]), w[i], e);
          }
          if (saved_.errors) StoreSome(e, saved_.errors + at_.v(step) + first, count);
        }
        w[c] = hn::Mul(hn::Set(d, chunk_.beta[c]), e);
      }
      LRNN_UNROLL for (int read = 0; read < kReads; ++read) {
        const int64_t token = chunk_.token[read];
        if (token < 0 || count <= 0) continue;
        const int slots = (read + 1) * kSlots / kReads;
        auto o = hn::Mul(hn::Set(d, chunk_.from_start[slots - 1]), hn::Load(d, r + read * tile_));
        LRNN_UNROLL for (int i = 0; i < slots; ++i) {
          o = hn::MulAdd(hn::Set(d, chunk_.query_key_decayed[read][i]), w[i], o);
        }
        StoreSome(hn::Mul(hn::Set(d, in_.scale), o), o_ + at_.o(token) + first, count);
      }
      LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
        hn::Store(hn::Mul(hn::Set(d, chunk_.to_end[c]), w[c]), d, w_ + c * tile_ + j * lanes);
      }
    }
  }

  const DeltaRuleShape& shape_;
  const DeltaRuleInputs<T>& in_;
  T* o_;
  T* final_state_;
  const DeltaRuleSaved<T>& saved_;
  const HeadRows at_;
  const ChunkPlan plan_;
  const int64_t tile_, tiles_;
  ChunkScalars<T> chunk_;

  hwy::AlignedFreeUniquePtr<T[]> scratch_;
  T* S_;       // [tiles, K, tile]
  T *p_, *r_;  // [slots, tile] S^T k and S^T q
  T* w_;       // [slots, tile]
  T* rows_;    // keys and queries
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
