// The forward pass of linear attention with decay for one head that sweeps the state once every four tokens, compiled
// once for each SIMD target.
//
// Of up to four tokens numbered 0 .. n-1, with S the state before them,
//
//   o_i = scale (sum_{j <= i} P_ij v_j + S^T (a_0 ... a_i q_i))        P_ij = sum_c q_ic (a_{j+1} ... a_i)_c k_jc
//   S  <- Diag(a_0 ... a_{n-1}) S + sum_j (a_{j+1} ... a_{n-1} k_j) v_j^T
//
// so that an element of S is read once for four reads and four writes. The columns of S do not know of each other: a
// tile of them stays in the first-level cache for the tokens of a segment, whose rows over K are formed once for all
// tiles.

#include <algorithm>

#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/linear_attention_chunk-inl.h"
#include "lrnn/kernels/linear_attention_rows-inl.h"

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_SWEEP_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_SWEEP_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_SWEEP_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_SWEEP_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
class SweepForward : public AttentionRows {
 public:
  SweepForward(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, T* o, T* final_state,
               T* chunk_states, const HeadRange& heads)
      : AttentionRows(shape, heads),
        shape_(shape),
        in_(in),
        o_(o),
        final_state_(final_state),
        chunk_states_(chunk_states),
        padded_K_(static_cast<int64_t>(hwy::RoundUpTo(K, kLanes))),
        panels_((K + kPanel - 1) / kPanel),
        state_size_(K * ((V + kTile - 1) / kTile * kTile)),
        scratch_({{&states_, heads.count() * state_size_},
                  {&rows_, kGroups * panels_ * kRows * kRow},
                  {&scores_, kGroups * kTokens * kTokens},
                  {&inputs_, 3 * kTokens * padded_K_},
                  {&v_, kTokens * kTile},
                  {&read_, kTokens * kTile}}) {}

  // The heads take turns, segment by segment: what they read and write of a token lies side by side in memory.
  void Run(int64_t sequence, int64_t chunk_state) {
    const int64_t begin = shape_.cu_seqlens[sequence], end = shape_.cu_seqlens[sequence + 1];
    const int64_t chunk = ChunkTokens(shape_, end - begin);
    for (int64_t head = heads.begin; head < heads.end; ++head) {
      SelectState(head);
      LoadState(in_.initial_state ? in_.initial_state + State(sequence, head) : nullptr);
    }
    for (int64_t token = begin; token < end;) {
      // A chunk is one or two segments, so that segments end where states are saved.
      const int64_t segment_end = std::min(end, token + kGroups * kTokens);
      const bool saves = chunk_states_ && token > begin && (token - begin) % chunk == 0;
      chunk_state += saves;
      // As many tokens as this segment has: a short one leaves no time to ask for more.
      const int64_t ahead = token + kGroups * kTokens, last = shape_.cu_seqlens[shape_.sequences];
      PrefetchTokens(ahead, std::min(segment_end - token, last - ahead));
      if (chunk_states_ && (segment_end - begin) % chunk == 0 && segment_end < end) {
        AddRows(chunk_states_, K * V, chunk_state, 1, ahead_);
      }
      for (int64_t head = heads.begin; head < heads.end; ++head) {
        SelectState(head);
        if (saves) StoreState(chunk_states_ + State(chunk_state - 1, head));
        RunSegment(token, segment_end, head);
      }
      token = segment_end;
    }
    if (!final_state_) return;
    for (int64_t head = heads.begin; head < heads.end; ++head) {
      SelectState(head);
      StoreState(final_state_ + State(sequence, head));
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  using Vec = hn::Vec<D>;
  static constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  static constexpr int64_t kTokens = 4;
  static constexpr int64_t kGroups = 4;  // of a segment
  // 8 vectors of o and 2 of S leave registers for broadcasts; v comes from memory.
  static constexpr int64_t kVectors = 2;
  static constexpr int64_t kTile = kVectors * kLanes;
  // Rows over K: 4 decayed queries, 4 decayed keys, and the decay of the state, in panels of kPanel channels, so that
  // the distance from row to row is a constant.
  static constexpr int64_t kPanel = 64, kRow = kPanel;
  static constexpr int64_t kRows = 2 * kTokens + 1;
  static constexpr int64_t kChannelsAtATime = 16;  // for which lines are taken from the queue

  void SelectState(int64_t head) { state_ = states_ + (head - heads.begin) * state_size_; }

  // What the heads read and write of `tokens` tokens will be needed soon.
  void PrefetchTokens(int64_t token, int64_t tokens) {
    ahead_.Clear();
    AddKeys(in_.q, token, tokens, ahead_);
    AddKeys(in_.k, token, tokens, ahead_);
    AddRows(in_.decay, decays, token, tokens, ahead_);
    AddRows(in_.v, V, token, tokens, ahead_);
    AddRows(o_, V, token, tokens, ahead_);
  }

  void RunSegment(int64_t begin, int64_t end, int64_t head) {
    for (int64_t first = begin, group = 0; first < end; first += kTokens, ++group) {
      WithTokens(end - first, [&](auto tokens) HWY_ATTR {
        shape_.decay_per_channel ? FormRows<tokens, true>(first, head, group)
                                 : FormRows<tokens, false>(first, head, group);
      });
    }
    for (int64_t column = 0; column < V; column += kTile) {
      for (int64_t first = begin, group = 0; first < end; first += kTokens, ++group) {
        WithTokens(end - first, [&](auto tokens) HWY_ATTR { SweepTile<tokens>(first, head, group, column); });
      }
    }
  }

  // state_: a tile after the other, [K, kTile] each.
  void LoadState(const T* state) {
    if (!state) {
      std::fill_n(state_, state_size_, T{0});
      return;
    }
    for (int64_t column = 0; column < V; column += kTile) {
      ScaleRows(K, std::min(kTile, V - column), T{1}, state + column, V, state_ + column * K, kTile);
    }
  }
  void StoreState(T* state) const {
    for (int64_t column = 0; column < V; column += kTile) {
      ScaleRows(K, std::min(kTile, V - column), T{1}, state_ + column * K, kTile, state + column, V);
    }
  }

  // The rows and scores of kCount tokens from `token` on.
  template <int kCount, bool kPerChannel>
  HWY_NOINLINE void FormRows(int64_t token, int64_t head, int64_t group) {
    const D d;
    // Rows that are not whole vectors are copied to where they can be read as such.
    const auto input = [&](const T* rows, int64_t& stride, T* padded) HWY_ATTR {
      if (K == padded_K_) return rows;
      ScaleRows(kCount, K, T{1}, rows, stride, padded, padded_K_);
      stride = padded_K_;
      return static_cast<const T*>(padded);
    };
    int64_t q_stride = G * K, k_stride = G * K, a_stride = H * decays;
    const T *q = in_.q + Key(token, head), *k = in_.k + Key(token, head), *a = in_.decay + Decay(token, head);
    q = input(q, q_stride, inputs_);
    k = input(k, k_stride, inputs_ + kTokens * padded_K_);
    if constexpr (kPerChannel) a = input(a, a_stride, inputs_ + 2 * kTokens * padded_K_);
    Vec decay[kCount], sum[kCount][kTokens];
    LRNN_UNROLL_ROWS for (int i = 0; i < kCount; ++i) {
      if constexpr (!kPerChannel) decay[i] = hn::Set(d, a[i * a_stride]);
      LRNN_UNROLL_ROWS for (int j = 0; j < kTokens; ++j) sum[i][j] = hn::Zero(d);
    }
    T* HWY_RESTRICT panel = rows_ + group * panels_ * kRows * kRow;
    const int64_t width = padded_K_;
    for (int64_t first = 0; first < width; first += kPanel, panel += kRows * kRow) {
      const int64_t last = std::min(kPanel, width - first);
      for (int64_t c = 0; c < last; c += kLanes, q += kLanes, k += kLanes) {
        if constexpr (kPerChannel) {
          LRNN_UNROLL_ROWS for (int i = 0; i < kCount; ++i) decay[i] = hn::LoadU(d, a + i * a_stride);
          a += kLanes;
        }
        Vec x[kCount];  // what is left of each key
        Vec product;    // a_0 ... a_i
        LRNN_UNROLL_ROWS for (int i = 0; i < kCount; ++i) {
          const auto qi = hn::LoadU(d, q + i * q_stride);
          product = i == 0 ? decay[0] : hn::Mul(product, decay[i]);
          hn::Store(hn::Mul(product, qi), d, panel + i * kRow + c);
          LRNN_UNROLL_ROWS for (int j = 0; j < i; ++j) x[j] = hn::Mul(x[j], decay[i]);
          x[i] = hn::LoadU(d, k + i * k_stride);
          LRNN_UNROLL_ROWS for (int j = 0; j <= i; ++j) sum[i][j] = hn::MulAdd(qi, x[j], sum[i][j]);
        }
        LRNN_UNROLL_ROWS for (int j = 0; j < kCount; ++j) hn::Store(x[j], d, panel + (kTokens + j) * kRow + c);
        hn::Store(product, d, panel + 2 * kTokens * kRow + c);
      }
    }
    LRNN_UNROLL_ROWS for (int i = 0; i < kCount; ++i) {
      SumLanesOfFour<T>(sum[i], scores_ + (group * kTokens + i) * kTokens);
    }
  }

  // One tile of the state from before kCount tokens to after them, and those columns of o.
  template <int kCount>
  HWY_NOINLINE void SweepTile(int64_t token, int64_t head, int64_t group, int64_t column) {
    const D d;
    const int64_t columns = std::min(kTile, V - column), stride = H * V;
    const bool whole = columns == kTile;
    const T* HWY_RESTRICT v = in_.v + Value(token, head) + column;
    if (!whole) ScaleRows(kCount, columns, T{1}, v, stride, v_, kTile);
    const int64_t v_stride = whole ? stride : kTile;
    if (!whole) v = v_;

    const T* HWY_RESTRICT scores = scores_ + group * kTokens * kTokens;
    Vec o[kCount][kVectors];
    LRNN_UNROLL_ROWS for (int i = 0; i < kCount; ++i) {
      LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) o[i][x] = hn::Zero(d);
    }
    LRNN_UNROLL_ROWS for (int j = 0; j < kCount; ++j) {
      LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) {
        const auto vj = hn::LoadU(d, v + j * v_stride + x * kLanes);
        LRNN_UNROLL_ROWS for (int i = j; i < kCount; ++i) {
          o[i][x] = hn::MulAdd(hn::Set(d, scores[i * kTokens + j]), vj, o[i][x]);
        }
      }
    }
    T* HWY_RESTRICT tile = state_ + column * K;
    const T* HWY_RESTRICT panel = rows_ + group * panels_ * kRows * kRow;
    for (int64_t first = 0; first < K; first += kChannelsAtATime) {
      const T* HWY_RESTRICT row = panel + first / kPanel * kRows * kRow + first % kPanel;
      PrefetchQueue::Lines lines = ahead_.Take(2 * kChannelsAtATime);
      for (const T* end = row + std::min(kChannelsAtATime, K - first); row < end; ++row, tile += kTile) {
        lines.Next();
        lines.Next();
        Vec S[kVectors];
        LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) S[x] = hn::Load(d, tile + x * kLanes);
        LRNN_UNROLL_ROWS for (int i = 0; i < kCount; ++i) {
          const auto q = hn::Set(d, row[i * kRow]);
          LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) o[i][x] = hn::MulAdd(q, S[x], o[i][x]);
        }
        const auto decay = hn::Set(d, row[2 * kTokens * kRow]);
        LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) S[x] = hn::Mul(decay, S[x]);
        LRNN_UNROLL_ROWS for (int j = 0; j < kCount; ++j) {
          const auto k = hn::Set(d, row[(kTokens + j) * kRow]);
          LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) {
            S[x] = hn::MulAdd(k, hn::LoadU(d, v + j * v_stride + x * kLanes), S[x]);
          }
        }
        LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) hn::Store(S[x], d, tile + x * kLanes);
      }
    }
    T* HWY_RESTRICT to = whole ? o_ + Value(token, head) + column : read_;
    const int64_t to_stride = whole ? stride : kTile;
    const auto scale = hn::Set(d, in_.scale);
    LRNN_UNROLL_ROWS for (int i = 0; i < kCount; ++i) {
      LRNN_UNROLL_ROWS for (int x = 0; x < kVectors; ++x) {
        hn::StoreU(hn::Mul(scale, o[i][x]), d, to + i * to_stride + x * kLanes);
      }
    }
    if (!whole) ScaleRows(kCount, columns, T{1}, read_, kTile, o_ + Value(token, head) + column, stride);
  }

  const LinearAttentionShape& shape_;
  const LinearAttentionInputs<T>& in_;
  T* o_;
  T* final_state_;
  T* chunk_states_;
  const int64_t padded_K_;
  const int64_t panels_;
  const int64_t state_size_;
  ChunkScratch<T> scratch_;
  T* states_;  // of all heads, and the current one:
  T* state_;   // [V / kTile, K, kTile]
  T* rows_;    // [kGroups, panels, kRows, kRow]
  T* scores_;  // [kGroups, kTokens, kTokens]
  T* inputs_;  // [3, kTokens, padded K] q, k and decays where they are not whole vectors
  T* v_;       // [kTokens, kTile] v and o where they are not as wide as a tile
  T* read_;    // [kTokens, kTile]
  PrefetchQueue ahead_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
