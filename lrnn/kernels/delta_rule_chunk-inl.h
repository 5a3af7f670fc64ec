// What the passes of the delta rule know of a chunk of four Householder steps, compiled once for each SIMD target.
// docs/math/delta_rule.md derives it.
//
// A chunk has four slots; a slot is one step, or empty (a zero key: it changes nothing). Reads (o = S^T q) happen after
// some slots: after each one, after slots 1 and 3, or after slot 3, as n_h is 1, 2 or more.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lrnn/kernels/delta_rule.h"
#include "lrnn/kernels/prefetch.h"
#include "lrnn/kernels/sum_lanes-inl.h"

#ifndef LRNN_KERNELS_DELTA_RULE_CHUNK_ONCE_
#define LRNN_KERNELS_DELTA_RULE_CHUNK_ONCE_
namespace lrnn::kernels {

constexpr int kSlots = 4;

// Loops over slots and vectors are unrolled at every level of optimisation: their arrays are registers.
#define LRNN_UNROLL _Pragma("GCC unroll 8")

// How the steps of a sequence fall into chunks: whole tokens to a chunk, or several chunks to a token.
struct ChunkPlan {
  explicit ChunkPlan(int64_t householders)
      : n(householders),
        tokens(householders <= kSlots ? kSlots / householders : 1),
        chunks_per_token((householders + kSlots - 1) / kSlots),
        reads(householders <= 2 ? kSlots / householders : 1) {
    for (int slot = 0; slot < kSlots; ++slot) {
      slot_token[slot] = chunks_per_token == 1 ? slot / n : 0;
      slot_step[slot] = chunks_per_token == 1 ? slot % n : slot;
    }
  }

  int64_t ChunksOf(int64_t sequence_tokens) const { return (sequence_tokens + tokens - 1) / tokens * chunks_per_token; }
  // The step of the sequence that chunk m starts with.
  int64_t FirstStep(int64_t m) const {
    return chunks_per_token == 1 ? m * tokens * n : m / chunks_per_token * n + m % chunks_per_token * kSlots;
  }

  int64_t n;                   // Householder steps of a token
  int64_t tokens;              // of a chunk
  int64_t chunks_per_token;    // 1 where n <= kSlots
  int64_t reads;               // of a chunk
  int64_t slot_token[kSlots];  // which of the chunk's tokens a slot belongs to
  int64_t slot_step[kSlots];   // and which step of the token, after those of the token's chunks before
};

// The slot that read r of a chunk with kReads reads comes after.
template <int kReads>
constexpr int SlotOfRead(int read) {
  return (read + 1) * kSlots / kReads - 1;
}

// The backward pass recomputes states from those that the forward pass saved, one every so many chunks: a state is
// K V numbers, and 8 K steps have 32 K V in q, k, v and o.
inline int64_t SaveEvery(int64_t key_width) { return std::max<int64_t>(64, 2 * key_width); }
inline int64_t SavedStates(int64_t chunks, int64_t key_width) {
  return chunks == 0 ? 0 : (chunks - 1) / SaveEvery(key_width);
}

// States that are in the first-level cache together. Heads with such states take turns, a sweep each (in the
// backward pass all steps since a saved state): what one waits for hides behind another's work, and whole rows of
// [T, H, K] are read, which the machine prefetches.
inline int64_t StatesInCache(const DeltaRuleShape& shape, size_t element) {
  constexpr size_t kBytes = 16384;
  return static_cast<int64_t>(kBytes / std::max<size_t>(1, shape.key_width * shape.value_width * element));
}

}  // namespace lrnn::kernels
#endif

#if defined(LRNN_KERNELS_DELTA_RULE_CHUNK_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_CHUNK_INL_
#undef LRNN_KERNELS_DELTA_RULE_CHUNK_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_CHUNK_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;

template <typename T>
HWY_INLINE int64_t LanesOf() {
  return static_cast<int64_t>(hn::Lanes(Tag<T>()));
}

// Where the rows of one head start; the head may change.
struct HeadRows {
  HeadRows(const DeltaRuleShape& shape, int64_t head)
      : H(shape.heads), K(shape.key_width), V(shape.value_width), head(head) {}
  // Token rows of q, o, decay; step rows (token * n_h + j) of k, v, beta; states.
  int64_t q(int64_t token) const { return (token * H + head) * K; }
  int64_t o(int64_t token) const { return (token * H + head) * V; }
  int64_t k(int64_t step) const { return (step * H + head) * K; }
  int64_t v(int64_t step) const { return (step * H + head) * V; }
  int64_t beta(int64_t step) const { return step * H + head; }
  int64_t decay(int64_t token) const { return token * H + head; }
  int64_t state(int64_t index) const { return (index * H + head) * K * V; }

  const int64_t H, K, V;
  int64_t head;
};

// The keys and queries of a chunk, rows of K numbers. A row lies a fixed distance from the one above, so that one
// register addresses all; wider rows are cut into panels, each with all eight rows. Not a multiple of a page.
constexpr int64_t kPanel = 128;
constexpr int64_t kRow = kPanel + 16;
static_assert(kRow * sizeof(float) % 64 == 0,
              "rows are loaded and stored as aligned vectors, of 64 bytes with AVX-512");
constexpr int64_t kRows = 2 * kSlots;  // k of each slot, then q of each read

inline int64_t RowsSize(int64_t K) { return (K + kPanel - 1) / kPanel * kRows * kRow; }

// The scalars of a chunk. With P_cj = decay_{j+1} ... decay_c, the product of the decays between slots j and c; all
// products are 1 as long as there are no decays.
template <typename T>
struct ChunkScalars {
  ChunkScalars() {
    for (int c = 0; c < kSlots; ++c) {
      from_start[c] = to_end[c] = 1;
      for (int j = 0; j < kSlots; ++j) between[c][j] = 1;
    }
  }

  int64_t step[kSlots];  // -1: empty
  bool starts_token[kSlots];
  int64_t token[kSlots];  // that read r reads; -1: none
  T beta[kSlots];
  T decay[kSlots];
  T from_start[kSlots];                   // decay_0 ... decay_c
  T to_end[kSlots];                       // P_3j
  T between[kSlots][kSlots];              // P_cj for j <= c
  HWY_ALIGN T key_key[kSlots][kSlots];    // k_c . k_j for j < c
  HWY_ALIGN T query_key[kSlots][kSlots];  // q_r . k_j for j up to the slot of read r
  T key_key_decayed[kSlots][kSlots];      // P_cj k_c . k_j
  T query_key_decayed[kSlots][kSlots];    // P_cj q_r . k_j
};

template <typename T>
HWY_INLINE T SumLanes(Vector<T> v) {
  return hn::GetLane(hn::SumOfLanes(Tag<T>(), v));
}

// `count` of the numbers of a vector, the others zero; and back.
template <typename T>
HWY_INLINE Vector<T> LoadSome(const T* from, int64_t count) {
  const Tag<T> d;
  if (count >= LanesOf<T>()) return hn::LoadU(d, from);
  HWY_ALIGN T lanes[hn::MaxLanes(Tag<T>())] = {};
  for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
}
template <typename T>
HWY_INLINE void StoreSome(Vector<T> v, T* to, int64_t count) {
  const Tag<T> d;
  if (count >= LanesOf<T>()) return hn::StoreU(v, d, to);
  HWY_ALIGN T lanes[hn::MaxLanes(Tag<T>())];
  hn::Store(v, d, lanes);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

// Copies one row of K numbers into the panels; the rest of the last panel's last vector is zero.
template <typename T>
HWY_INLINE void LoadRow(const T* HWY_RESTRICT from, int64_t K, T* HWY_RESTRICT rows, int64_t row) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  for (int64_t first = 0; first < K; first += kPanel, rows += kRows * kRow) {
    const int64_t count = std::min(kPanel, K - first);
    T* HWY_RESTRICT to = rows + row * kRow;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) hn::Store(hn::LoadU(d, from + first + i), d, to + i);
    if (i < count) hn::Store(LoadSome(from + first + i, count - i), d, to + i);
  }
}

template <typename T>
HWY_INLINE void ZeroRow(int64_t K, T* HWY_RESTRICT rows, int64_t row) {
  for (int64_t first = 0; first < K; first += kPanel, rows += kRows * kRow) {
    std::fill_n(rows + row * kRow, hwy::RoundUpTo(std::min(kPanel, K - first), LanesOf<T>()), T{0});
  }
}

// All products of keys with earlier keys, and of queries with the keys they see.
template <int kReads, typename T>
HWY_INLINE void Products(int64_t K, const T* HWY_RESTRICT rows, ChunkScalars<T>& chunk) {
  const Tag<T> d;
  Vector<T> keys[kSlots][kSlots];
  LRNN_UNROLL for (int c = 1; c < kSlots; ++c) { LRNN_UNROLL for (int j = 0; j < c; ++j) keys[c][j] = hn::Zero(d); }
  const T* HWY_RESTRICT panel = rows;
  for (int64_t first = 0; first < K; first += kPanel, panel += kRows * kRow) {
    for (int64_t i = 0; i < std::min(kPanel, K - first); i += LanesOf<T>()) {
      LRNN_UNROLL for (int c = 1; c < kSlots; ++c) {
        const auto k = hn::Load(d, panel + c * kRow + i);
        LRNN_UNROLL for (int j = 0; j < c; ++j) keys[c][j] =
            hn::MulAdd(k, hn::Load(d, panel + j * kRow + i), keys[c][j]);
      }
    }
  }
  LRNN_UNROLL for (int c = 1; c < kSlots; ++c) {
    LRNN_UNROLL for (int j = c; j < kSlots; ++j) keys[c][j] = hn::Zero(d);
    SumLanesOfFour<T>(keys[c], chunk.key_key[c]);
  }

  Vector<T> reads[kReads][kSlots];
  LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
    LRNN_UNROLL for (int j = 0; j < (r + 1) * kSlots / kReads; ++j) reads[r][j] = hn::Zero(d);
  }
  panel = rows;
  for (int64_t first = 0; first < K; first += kPanel, panel += kRows * kRow) {
    for (int64_t i = 0; i < std::min(kPanel, K - first); i += LanesOf<T>()) {
      LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
        const auto q = hn::Load(d, panel + (kSlots + r) * kRow + i);
        LRNN_UNROLL for (int j = 0; j < (r + 1) * kSlots / kReads; ++j) {
          reads[r][j] = hn::MulAdd(q, hn::Load(d, panel + j * kRow + i), reads[r][j]);
        }
      }
    }
  }
  LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
    LRNN_UNROLL for (int j = (r + 1) * kSlots / kReads; j < kSlots; ++j) reads[r][j] = hn::Zero(d);
    SumLanesOfFour<T>(reads[r], chunk.query_key[r]);
  }
}

// The products of a chunk's decays.
template <typename T>
HWY_INLINE void SetDecays(ChunkScalars<T>& chunk) {
  T product = 1;
  LRNN_UNROLL for (int c = 0; c < kSlots; ++c) chunk.from_start[c] = product *= chunk.decay[c];
  LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
    chunk.between[c][c] = 1;
    LRNN_UNROLL for (int j = c - 1; j >= 0; --j) chunk.between[c][j] = chunk.between[c][j + 1] * chunk.decay[j + 1];
  }
  for (int j = 0; j < kSlots; ++j) chunk.to_end[j] = chunk.between[kSlots - 1][j];
}

// Rows and scalars of chunk m of a sequence; queries and products only if asked for.
template <int kReads, bool kProducts, typename T>
void LoadChunk(const ChunkPlan& plan, const HeadRows& at, const DeltaRuleInputs<T>& in, int64_t m, int64_t begin,
               int64_t end, T* HWY_RESTRICT rows, ChunkScalars<T>& chunk) {
  int64_t token = begin + m * plan.tokens, part = 0;
  if (plan.chunks_per_token > 1) token = begin + m / plan.chunks_per_token, part = m % plan.chunks_per_token;
  for (int c = 0; c < kSlots; ++c) {
    const int64_t t = token + plan.slot_token[c], j = part * kSlots + plan.slot_step[c];
    const bool filled = t < end && j < plan.n && plan.slot_token[c] < plan.tokens;
    const int64_t step = chunk.step[c] = filled ? t * plan.n + j : -1;
    chunk.starts_token[c] = filled && j == 0;
    chunk.beta[c] = filled ? in.beta[at.beta(step)] : T{0};
    chunk.decay[c] = chunk.starts_token[c] && in.decay ? in.decay[at.decay(t)] : T{1};
    filled ? LoadRow(in.k + at.k(step), at.K, rows, c) : ZeroRow(at.K, rows, c);
  }
  for (int r = 0; r < kReads && kProducts; ++r) {
    const bool reads = token + r < end && part == plan.chunks_per_token - 1;
    chunk.token[r] = reads ? token + r : -1;
    reads ? LoadRow(in.q + at.q(token + r), at.K, rows, kSlots + r) : ZeroRow(at.K, rows, kSlots + r);
  }

  if (in.decay) SetDecays(chunk);
  if constexpr (!kProducts) return;

  Products<kReads>(at.K, rows, chunk);
  LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
    LRNN_UNROLL for (int j = 0; j < c; ++j) chunk.key_key_decayed[c][j] = chunk.between[c][j] * chunk.key_key[c][j];
  }
  LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
    const int c = SlotOfRead<kReads>(r);
    LRNN_UNROLL for (int j = 0; j <= c; ++j) chunk.query_key_decayed[r][j] =
        chunk.between[c][j] * chunk.query_key[r][j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
