// The backward pass of the delta rule for some heads, compiled once for each SIMD target. docs/math/delta_rule.md
// derives it.
//
// Chunks as in the forward pass, from the last to the first, for a panel of columns. States and their gradients are
// held transposed, lanes over the rows K: the gradients of keys and queries are sums over columns, so they are plain
// vector accumulators.

#include <algorithm>
#include <iterator>

#include "lrnn/kernels/delta_rule.h"
#include "lrnn/kernels/delta_rule_chunk-inl.h"
#include "lrnn/kernels/delta_rule_panel-inl.h"
#include "lrnn/kernels/sequence_groups.h"

#if defined(LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_
#undef LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_BACKWARD_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// The backward pass of some heads, sequence by sequence. Rows of length K are padded with zeros to whole vectors,
// columns to kColumns. The heads and panels of columns take turns, from one saved state to the next, so that what is
// read and written of a token is complete while it is in the cache.
template <int kReads, typename T>
class BackwardPass {
 public:
  BackwardPass(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, const DeltaRuleSaved<T>& saved, const T* d_o,
               const T* d_final_state, const DeltaRuleGradients<T>& out, const SequenceGroup& group,
               const HeadRange& heads)
      : shape_(shape),
        in_(in),
        saved_(saved),
        d_o_(d_o),
        d_final_state_(d_final_state),
        out_(out),
        heads_(heads),
        at_(shape, heads.begin),
        plan_(shape.householders),
        stride_(hwy::RoundUpTo(at_.K, LanesOf<T>())),
        tile_(kColumns * stride_),
        panels_((at_.V + kColumns - 1) / kColumns),
        segment_(SegmentOf(tile_)) {
    int64_t longest = 0;
    for (int64_t i = group.begin; i < group.end; ++i) {
      longest = std::max<int64_t>(longest, shape.cu_seqlens[i + 1] - shape.cu_seqlens[i]);
    }
    const int64_t chunks = plan_.ChunksOf(longest), rows = RowsSize(at_.K);
    const int64_t segments = (std::min(SaveEvery(at_.K), chunks) + segment_ - 1) / segment_;
    const int64_t slots = kSlots * kColumns;
    const int64_t sizes[] = {std::max<int64_t>(1, segments) * tile_,
                             std::min(segment_, chunks) * tile_ + tile_,
                             heads.count() * panels_ * tile_,
                             rows,
                             segment_ * slots,
                             slots,
                             slots,
                             slots,
                             slots,
                             slots,
                             kSlots * stride_,
                             kSlots * stride_,
                             kSlots * stride_,
                             kRows * stride_};
    T** const places[] = {&segment_starts_, &S_,      &all_G_,   &rows_,     &w_,         &e_,   &z_,
                          &d_error_,        &d_read_, &decayed_, &S_d_read_, &S_d_error_, &G_w_, &d_rows_};
    int64_t total = 0;
    for (int64_t size : sizes) total += size;
    scratch_ = hwy::AllocateAligned<T>(total);
    T* place = scratch_.get();
    for (size_t i = 0; i < std::size(sizes); ++i) {
      *places[i] = place;
      place += sizes[i];
    }
  }

  void Run(int64_t sequence, int64_t first_saved) {
    begin_ = shape_.cu_seqlens[sequence], end_ = shape_.cu_seqlens[sequence + 1];
    const int64_t chunks = plan_.ChunksOf(end_ - begin_), every = SaveEvery(at_.K);
    ForEachPanel([&] { LoadTransposed(d_final_state_ ? d_final_state_ + at_.state(sequence) : nullptr, G_); });
    for (int64_t part = (chunks + every - 1) / every - 1; part >= 0; --part) {
      ForEachPanel([&] {
        const T* state = part > 0            ? saved_.states + at_.state(first_saved + part - 1)
                         : in_.initial_state ? in_.initial_state + at_.state(sequence)
                                             : nullptr;
        RunPart(part * every, std::min(chunks, (part + 1) * every), state);
      });
    }
    if (out_.initial_state) ForEachPanel([&] { StoreTransposed(G_, out_.initial_state + at_.state(sequence)); });
  }

 private:
  // As many as fit into half of a second-level cache.
  static int64_t SegmentOf(int64_t tile) {
    constexpr int64_t kBytes = 262144;
    return std::clamp<int64_t>(kBytes / std::max<int64_t>(1, tile * sizeof(T)), 16, 64);
  }

  // state: [K, V] or null (zeros) -> tile: [column, padded K]
  void LoadTransposed(const T* state, T* tile) const {
    std::fill_n(tile, tile_, T{0});
    if (!state) return;
    for (int64_t i = 0; i < at_.K; ++i) {
      for (int64_t c = 0; c < columns_; ++c) tile[c * stride_ + i] = state[i * at_.V + column_ + c];
    }
  }
  void StoreTransposed(const T* tile, T* state) const {
    for (int64_t i = 0; i < at_.K; ++i) {
      for (int64_t c = 0; c < columns_; ++c) state[i * at_.V + column_ + c] = tile[c * stride_ + i];
    }
  }

  // Calls body() with a head in at_, a panel of its columns in column_ and columns_, and the panel's dS in G_.
  template <typename Body>
  void ForEachPanel(const Body& body) {
    G_ = all_G_;
    for (at_.head = heads_.begin; at_.head < heads_.end; ++at_.head) {
      for (column_ = 0; column_ < at_.V; column_ += kColumns, G_ += tile_) {
        columns_ = std::min(kColumns, at_.V - column_);
        body();
      }
    }
  }

  // The chunks first .. last - 1 of a panel; `state` is saved before the first. Saved state -> starts of its segments
  // -> starts of a segment's chunks -> gradients, each from the last to the first.
  void RunPart(int64_t first, int64_t last, const T* state) {
    const int64_t segments = (last - first + segment_ - 1) / segment_;
    LoadTransposed(state, segment_starts_);
    for (int64_t segment = 0; segment + 1 < segments; ++segment) {
      T* start = segment_starts_ + segment * tile_;
      for (int64_t m = 0; m < segment_; ++m) {
        AdvanceChunk(first + segment * segment_ + m, m == 0 ? start : S_, m + 1 == segment_ ? start + tile_ : S_, w_);
      }
    }
    for (int64_t segment = segments - 1; segment >= 0; --segment) {
      const int64_t begin = first + segment * segment_, end = std::min(last, begin + segment_);
      std::copy_n(segment_starts_ + segment * tile_, tile_, S_);
      for (int64_t m = begin; m < end; ++m) {
        AdvanceChunk(m, S_ + (m - begin) * tile_, m + 1 < end ? S_ + (m - begin + 1) * tile_ : nullptr,
                     w_ + (m - begin) * kSlots * kColumns);
      }
      for (int64_t m = end - 1; m >= begin; --m) {
        BackChunk(m, S_ + (m - begin) * tile_, w_ + (m - begin) * kSlots * kColumns);
      }
    }
  }

  // w of a chunk, and the state after it (if `to` is not null).
  void AdvanceChunk(int64_t m, const T* from, T* to, T* w) {
    LoadChunk<kReads, false>(plan_, at_, in_, m, begin_, end_, rows_, chunk_);
    PrefetchSteps(m + 1);
    LoadErrors(w, chunk_.beta);
    if (!to) return;
    if (in_.decay) {
      for (int c = 0; c < kSlots; ++c) Scale(chunk_.to_end[c], w, c);
      AddRows<kSlots, RowSign::kPlus, true>(at_.K, stride_, chunk_.from_start[kSlots - 1], rows_, decayed_, from, to);
    } else {
      AddRows<kSlots, RowSign::kPlus, false>(at_.K, stride_, T{1}, rows_, w, from, to);
    }
  }

  // to: [slots, kColumns] the chunk's errors times a factor.
  HWY_INLINE void LoadErrors(T* to, const T* factor) const {
    for (int c = 0; c < kSlots; ++c) {
      const int64_t step = chunk_.step[c];
      ScaleColumns(factor[c], saved_.errors + (step < 0 ? 0 : at_.v(step) + column_), step < 0 ? 0 : columns_,
                   to + c * kColumns);
    }
  }

  // decayed_[row] <- a from[row]
  HWY_INLINE void Scale(T a, const T* from, int row) const {
    ScaleColumns(a, from + row * kColumns, kColumns, decayed_ + row * kColumns);
  }

  // What AdvanceChunk of chunk m reads.
  HWY_INLINE void PrefetchSteps(int64_t m) const {
    const int64_t first = begin_ * plan_.n + plan_.FirstStep(m), last = std::min(first + kSlots, end_ * plan_.n);
    for (int64_t step = first; step < last; ++step) {
      PrefetchRow(in_.k + at_.k(step), at_.K);
      PrefetchRow(saved_.errors + at_.v(step) + column_, columns_);
    }
  }

  // What BackChunk of chunk m reads and writes for its slot c, but for what AdvanceChunk has read.
  HWY_INLINE void PrefetchSlot(int64_t m, int c) const {
    const int64_t step = begin_ * plan_.n + plan_.FirstStep(m) + c;
    if (m < 0 || step >= end_ * plan_.n) return;
    PrefetchRow(out_.k + at_.k(step), at_.K);
    PrefetchRow(out_.v + at_.v(step) + column_, columns_);
    if (step % plan_.n != 0) return;
    const int64_t token = step / plan_.n;
    PrefetchRow(in_.q + at_.q(token), at_.K);
    PrefetchRow(out_.q + at_.q(token), at_.K);
    PrefetchRow(d_o_ + at_.o(token) + column_, columns_);
  }

  // On entry G = dS after chunk m without the chunk's reads, and S is the state before it.
  void BackChunk(int64_t m, const T* S, const T* w) {
    LoadChunk<kReads, true>(plan_, at_, in_, m, begin_, end_, rows_, chunk_);
    constexpr T kOnes[kSlots] = {1, 1, 1, 1};
    LoadErrors(e_, kOnes);
    for (int r = 0; r < kReads; ++r) {
      const int64_t token = chunk_.token[r];
      ScaleColumns(in_.scale, d_o_ + (token < 0 ? 0 : at_.o(token) + column_), token < 0 ? 0 : columns_,
                   d_read_ + r * kColumns);
    }
    DotRows(at_.K, stride_, rows_, G_, z_);
    PrefetchSlot(m - 1, 0);
    SolveErrors();
    SumColumns<kReads>(stride_, S, d_read_, S_d_read_);
    PrefetchSlot(m - 1, 1);
    SumColumns<kSlots>(stride_, S, d_error_, S_d_error_);
    PrefetchSlot(m - 1, 2);
    SumColumns<kSlots>(stride_, G_, w, G_w_);
    PrefetchSlot(m - 1, 3);
    HWY_ALIGN T w_d_read[kSlots][kSlots], w_d_error[kSlots][kSlots];  // [j][r] and [j][c]: w_j . d_read_r, w_j . de_c
    LRNN_UNROLL for (int j = 0; j < kSlots; ++j) {
      DotColumns<kReads>(w + j * kColumns, d_read_, w_d_read[j]);
      DotColumns<kSlots>(w + j * kColumns, d_error_, w_d_error[j]);
    }
    SetRowGradients(w_d_read, w_d_error);
    if (in_.decay) StoreDecayGradients(S, w_d_read, w_d_error);
    StoreGradients();

    // G <- decay G - sum_c decay_0..c k_c de_c^T + sum_r decay_0..c q_r d_read_r^T
    const T* queries = rows_ + kSlots * kRow;
    if (in_.decay) {
      for (int c = 0; c < kSlots; ++c) Scale(chunk_.from_start[c], d_error_, c);
      AddRows<kSlots, RowSign::kMinus, true>(at_.K, stride_, chunk_.from_start[kSlots - 1], rows_, decayed_, G_, G_);
      for (int r = 0; r < kReads; ++r) Scale(chunk_.from_start[SlotOfRead<kReads>(r)], d_read_, r);
      AddRows<kReads, RowSign::kPlus, false>(at_.K, stride_, T{1}, queries, decayed_, G_, G_);
    } else {
      AddRows<kSlots, RowSign::kMinus, false>(at_.K, stride_, T{1}, rows_, d_error_, G_, G_);
      AddRows<kReads, RowSign::kPlus, false>(at_.K, stride_, T{1}, queries, d_read_, G_, G_);
    }
  }

  // The first panel of columns writes, the others add.
  void Add(T value, T& to) const { to = column_ == 0 ? value : to + value; }
  // to[c] = (row `first` + c of the keys and queries) . x_c, c < kCount; x: [kCount, padded K]
  template <int kCount>
  HWY_INLINE void DotWithRows(int64_t first, const T* HWY_RESTRICT x, T (&to)[kSlots]) const {
    const Tag<T> d;
    Vector<T> sum[kSlots];
    LRNN_UNROLL for (int c = 0; c < kSlots; ++c) sum[c] = hn::Zero(d);
    const T* HWY_RESTRICT panel = rows_ + first * kRow;
    for (int64_t start = 0; start < at_.K; start += kPanel, panel += kRows * kRow) {
      for (int64_t i = 0; i < std::min(kPanel, at_.K - start); i += LanesOf<T>()) {
        LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
          sum[c] = hn::MulAdd(hn::Load(d, panel + c * kRow + i), hn::Load(d, x + c * stride_ + start + i), sum[c]);
        }
      }
    }
    SumLanesOfFour<T>(sum, to);
  }

  // The errors' gradients, from the last slot to the first, and those of beta:
  //   dw_j = P_3j z_j + sum_{reads c >= j} P_cj (q_c . k_j) d_read_c - sum_{c > j} P_cj (k_c . k_j) de_c
  //   de = beta dw
  HWY_INLINE void SolveErrors() {
    const Tag<T> d;
    Vector<T> d_beta[kSlots];
    LRNN_UNROLL for (int slot = 0; slot < kSlots; ++slot) d_beta[slot] = hn::Zero(d);
    for (int64_t j = 0; j < kColumns; j += LanesOf<T>()) {
      Vector<T> de[kSlots];
      LRNN_UNROLL for (int slot = kSlots - 1; slot >= 0; --slot) {
        auto dw = hn::Mul(hn::Set(d, chunk_.to_end[slot]), hn::Load(d, z_ + slot * kColumns + j));
        LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
          if (SlotOfRead<kReads>(r) < slot) continue;
          dw = hn::MulAdd(hn::Set(d, chunk_.query_key_decayed[r][slot]), hn::Load(d, d_read_ + r * kColumns + j), dw);
        }
        LRNN_UNROLL for (int c = slot + 1; c < kSlots; ++c) {
          dw = hn::NegMulAdd(hn::Set(d, chunk_.key_key_decayed[c][slot]), de[c], dw);
        }
        de[slot] = hn::Mul(hn::Set(d, chunk_.beta[slot]), dw);
        d_beta[slot] = hn::MulAdd(dw, hn::Load(d, e_ + slot * kColumns + j), d_beta[slot]);
      }
      LRNN_UNROLL for (int slot = 0; slot < kSlots; ++slot) hn::Store(de[slot], d, d_error_ + slot * kColumns + j);
    }
    SumLanesOfFour<T>(d_beta, d_beta_);
  }

  // to[c] = x . y_c over the columns, c < kCount; y: [kCount, kColumns].
  template <int kCount>
  static HWY_INLINE void DotColumns(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, T* HWY_RESTRICT to) {
    const Tag<T> d;
    Vector<T> sum[kSlots];
    LRNN_UNROLL for (int c = 0; c < kSlots; ++c) sum[c] = hn::Zero(d);
    for (int64_t j = 0; j < kColumns; j += LanesOf<T>()) {
      const auto xj = hn::Load(d, x + j);
      LRNN_UNROLL for (int c = 0; c < kCount; ++c) sum[c] = hn::MulAdd(xj, hn::Load(d, y + c * kColumns + j), sum[c]);
    }
    SumLanesOfFour<T>(sum, to);
  }

  // Rows of dk and dq, each a sum of the chunk's keys and queries:
  //   dq_r = decay_0..c S d_read_r + sum_{j <= c} P_cj (w_j . d_read_r) k_j
  //   dk_c = P_3c G w_c - decay_0..c S de_c + sum_{reads i >= c} P_ic (w_c . d_read_i) q_i
  //          - sum_{i > c} P_ic (w_c . de_i) k_i - sum_{j < c} P_cj (w_j . de_c) k_j
  HWY_INLINE void SetRowGradients(const T (*w_d_read)[kSlots], const T (*w_d_error)[kSlots]) {
    RowFactors factors;
    LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
      LRNN_UNROLL for (int j = 0; j < c; ++j) {
        factors.keys[c][j] = factors.keys[j][c] = -chunk_.between[c][j] * w_d_error[j][c];
      }
      LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
        const int i = SlotOfRead<kReads>(r);
        if (i >= c) factors.reads[r][c] = chunk_.between[i][c] * w_d_read[c][r];
      }
    }
    const int64_t lanes = LanesOf<T>();
    const T* HWY_RESTRICT panel = rows_;
    for (int64_t first = 0; first < at_.K; first += kPanel, panel += kRows * kRow) {
      const int64_t count = std::min(kPanel, at_.K - first);
      int64_t i = 0;
      for (; i + 4 * lanes <= count; i += 4 * lanes) SetRowGradientsAt<4>(factors, panel + i, first + i);
      for (; i < count; i += lanes) SetRowGradientsAt<1>(factors, panel + i, first + i);
    }
  }

  struct RowFactors {
    T keys[kSlots][kSlots];   // of key j in dk_c, j != c
    T reads[kReads][kSlots];  // of key j in dq_r and of query r in dk_j
  };

  // kWide vectors of K from x on; `rows` are those of the keys and queries there.
  template <int kWide>
  HWY_INLINE void SetRowGradientsAt(const RowFactors& factors, const T* HWY_RESTRICT rows, int64_t x) {
    const Tag<T> d;
    const int64_t lanes = LanesOf<T>();
    Vector<T> sum[kWide];
    const auto start = [&](T factor, const T* HWY_RESTRICT row) HWY_ATTR {
      LRNN_UNROLL for (int j = 0; j < kWide; ++j) {
        sum[j] = hn::Mul(hn::Set(d, factor), hn::Load(d, row + x + j * lanes));
      }
    };
    const auto add = [&](T factor, const T* HWY_RESTRICT row) HWY_ATTR {
      LRNN_UNROLL for (int j = 0; j < kWide; ++j) {
        sum[j] = hn::MulAdd(hn::Set(d, factor), hn::Load(d, row + j * lanes), sum[j]);
      }
    };
    const auto finish = [&](int row) HWY_ATTR {
      LRNN_UNROLL for (int j = 0; j < kWide; ++j) hn::Store(sum[j], d, d_rows_ + row * stride_ + x + j * lanes);
    };
    LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
      start(chunk_.to_end[c], G_w_ + c * stride_);
      add(-chunk_.from_start[c], S_d_error_ + c * stride_ + x);
      LRNN_UNROLL for (int j = 0; j < kSlots; ++j) {
        if (j != c) add(factors.keys[c][j], rows + j * kRow);
      }
      LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
        if (SlotOfRead<kReads>(r) >= c) add(factors.reads[r][c], rows + (kSlots + r) * kRow);
      }
      finish(c);
    }
    LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
      start(chunk_.from_start[SlotOfRead<kReads>(r)], S_d_read_ + r * stride_);
      LRNN_UNROLL for (int j = 0; j < kSlots; ++j) {
        if (j <= SlotOfRead<kReads>(r)) add(factors.reads[r][j], rows + j * kRow);
      }
      finish(kSlots + r);
    }
  }

  // To where the caller wants them, those of the chunk's steps and tokens.
  HWY_INLINE void StoreGradients() const {
    const bool add = column_ > 0;
    for (int c = 0; c < kSlots; ++c) {
      const int64_t step = chunk_.step[c];
      if (step < 0) continue;
      StoreRow(d_error_ + c * kColumns, columns_, false, out_.v + at_.v(step) + column_);
      StoreRow(d_rows_ + c * stride_, at_.K, add, out_.k + at_.k(step));
      Add(d_beta_[c], out_.beta[at_.beta(step)]);
    }
    for (int r = 0; r < kReads; ++r) {
      if (chunk_.token[r] < 0) continue;
      StoreRow(d_rows_ + (kSlots + r) * stride_, at_.K, add, out_.q + at_.q(chunk_.token[r]));
    }
  }

  // Every use of a decay is in a product of decays from one slot to another. d_product[c][j + 1] is the gradient of
  // P_cj = decay_{j+1} .. decay_c; j = -1 stands for the state before the chunk. No division: decays may be 0.
  void StoreDecayGradients(const T* S, const T (*w_d_read)[kSlots], const T (*w_d_error)[kSlots]) {
    const ChunkScalars<T>& chunk = chunk_;
    HWY_ALIGN T reads[kSlots], errors[kSlots], ends[kSlots];
    DotWithRows<kReads>(kSlots, S_d_read_, reads);
    DotWithRows<kSlots>(0, S_d_error_, errors);
    DotWithRows<kSlots>(0, G_w_, ends);
    T d_product[kSlots][kSlots + 1] = {};
    LRNN_UNROLL for (int r = 0; r < kReads; ++r) {
      const int c = SlotOfRead<kReads>(r);
      d_product[c][0] += reads[r];
      LRNN_UNROLL for (int j = 0; j <= c; ++j) d_product[c][j + 1] += chunk.query_key[r][j] * w_d_read[j][r];
    }
    LRNN_UNROLL for (int c = 0; c < kSlots; ++c) {
      d_product[c][0] -= errors[c];
      LRNN_UNROLL for (int j = 0; j < c; ++j) d_product[c][j + 1] -= chunk.key_key[c][j] * w_d_error[j][c];
      d_product[kSlots - 1][c + 1] += ends[c];
    }
    d_product[kSlots - 1][0] += Dot(tile_, S, G_);
    LRNN_UNROLL for (int i = 0; i < kSlots; ++i) {
      if (!chunk.starts_token[i]) continue;
      T d_decay = 0;
      LRNN_UNROLL for (int c = i; c < kSlots; ++c) {
        T sum = d_product[c][0] * (i > 0 ? chunk.from_start[i - 1] : T{1});  // times the decays before slot i
        LRNN_UNROLL for (int j = 0; j < i; ++j) sum += d_product[c][j + 1] * chunk.between[i - 1][j];
        d_decay += sum * chunk.between[c][i];
      }
      Add(d_decay, out_.decay[at_.decay(chunk.step[i] / plan_.n)]);
    }
  }

  const DeltaRuleShape& shape_;
  const DeltaRuleInputs<T>& in_;
  const DeltaRuleSaved<T>& saved_;
  const T* d_o_;
  const T* d_final_state_;
  const DeltaRuleGradients<T>& out_;
  const HeadRange heads_;
  HeadRows at_;  // of the head at work
  const ChunkPlan plan_;
  const int64_t stride_, tile_;  // of a column, of a panel of columns
  const int64_t panels_;         // of a head
  const int64_t segment_;        // how many chunks' states are held at once
  int64_t begin_ = 0, end_ = 0, column_ = 0, columns_ = 0;
  ChunkScalars<T> chunk_;

  hwy::AlignedFreeUniquePtr<T[]> scratch_;
  T* segment_starts_;                // [segments, column, K] states
  T* S_;                             // [chunks of a segment, column, K] states
  T* all_G_;                         // [heads, panels, column, K] dS
  T* G_ = nullptr;                   // that of the panel at work
  T* rows_;                          // keys and queries
  T* w_;                             // [chunks of a segment, slots, column] beta e
  T *e_, *z_, *d_error_;             // [slots, column] errors, G^T k, gradients of the errors
  T* d_read_;                        // [reads, column] scale d_o
  T* decayed_;                       // [slots, column] one of those times decays
  T *S_d_read_, *S_d_error_, *G_w_;  // [slots, K]
  T* d_rows_;                        // [slots + reads, K] gradients of keys and queries
  HWY_ALIGN T d_beta_[kSlots];
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
