// The forward pass of the delta rule for one sequence and one head, compiled once for each SIMD target.
// docs/math/delta_rule.md derives it.
//
// Takes the steps of a sequence a few at a time, and the state tile by tile (delta_rule_sweep-inl.h).

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/kernels/delta_rule.h"
#include "lrnn/kernels/delta_rule_chunk-inl.h"
#include "lrnn/kernels/delta_rule_sweep-inl.h"

#if defined(LRNN_KERNELS_DELTA_RULE_FORWARD_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_FORWARD_INL_
#undef LRNN_KERNELS_DELTA_RULE_FORWARD_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_FORWARD_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// Consecutive Householder steps of a sequence that share a sweep. The state is held as S / a, a the product of the
// decays since it was last brought to S, so that a decay costs nothing per element.
template <typename T>
struct StepBlock {
  int64_t count;     // up to kSteps; none: the state is only read with the next keys
  int reads;         // after which steps
  T fold;            // the held state is multiplied by this first; 1: nothing to do
  T a[kSteps];       // at each step
  T over_a[kSteps];  // 1 / a
  T beta[kSteps];
  T scale[kSteps];  // of each read: that of all reads times a
  // Rows of the first step, of the first key after the block, of the first read.
  const T *k, *next, *q;
  int64_t row;                 // from one of them to the one below
  const T *k_ahead, *q_ahead;  // those of the first step and of the first read of a block to come
  const T* v;
  T* errors;  // or null
  T* o;
};

// The forward pass of one head, sequence by sequence: Start, RunNext until the sequence is at its end, Finish.
template <typename T>
class ForwardPass {
 public:
  ForwardPass(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, T* o, T* final_state,
              const DeltaRuleSaved<T>& saved, int64_t head)
      : shape_(shape),
        in_(in),
        out_(o),
        final_state_(final_state),
        saved_(saved),
        at_(shape, head),
        plan_(shape.householders),
        tile_(kVectors * LanesOf<T>()),
        tiles_((at_.V + tile_ - 1) / tile_),
        key_row_(at_.H * at_.K),
        value_row_(at_.H * at_.V),
        key_lines_(at_.K, key_row_, tiles_),
        value_lines_(at_.V, value_row_, tiles_),
        row_(at_.K + 64 / sizeof(T)) {
    const int64_t tokens_ahead = (kStepsAhead + plan_.n - 1) / plan_.n;
    queries_ahead_ = tokens_ahead * key_row_, outputs_ahead_ = tokens_ahead * value_row_;
    keys_ahead_ = queries_ahead_ * plan_.n, values_ahead_ = outputs_ahead_ * plan_.n;
    const int64_t p_size = kSteps * tiles_ * tile_;
    scratch_ = hwy::AllocateAligned<T>(tiles_ * tile_ * at_.K + p_size + 3 * kSteps * row_ + 2 * kKeyProducts);
    S_ = scratch_.get();
    p_ = S_ + tiles_ * tile_ * at_.K;
    products_ = p_ + p_size;
    next_products_ = products_ + kKeyProducts;
    copies_ = next_products_ + kKeyProducts;
  }

  void Start(int64_t sequence, int64_t first_saved) {
    sequence_ = sequence;
    first_token_ = token_ = shape_.cu_seqlens[sequence];
    const int64_t tokens = shape_.cu_seqlens[sequence + 1] - first_token_;
    steps_ = tokens * plan_.n;
    chunks_ = plan_.ChunksOf(tokens);
    first_saved_ = first_saved;
    step_ = step_of_token_ = next_saved_ = 0;
    a_ = 1;
    const int64_t first_step = first_token_ * plan_.n;
    k_ = in_.k + at_.k(first_step), v_ = in_.v + at_.v(first_step), beta_ = in_.beta + at_.beta(first_step);
    q_ = in_.q + at_.q(first_token_), o_ = out_ + at_.o(first_token_);
    LoadState(in_.initial_state ? in_.initial_state + at_.state(sequence) : nullptr);
    std::fill_n(p_, tiles_ * tile_ * kSteps, T{0});
    if (steps_ == 0) return;
    // p and the products of the keys of the first block.
    in_.initial_state ? RunBlock(0) : SetFirstProducts();
  }

  // Runs the next steps; false: there are none.
  bool RunNext() {
    if (step_ == steps_) return false;
    // States are saved between blocks.
    const int64_t next = (next_saved_ + 1) * SaveEvery(at_.K);
    const bool saves = saved_.states && next < chunks_;
    const int64_t end = saves ? plan_.FirstStep(next) : steps_;
    RunBlock(end);
    if (saves && step_ == end) StoreState(saved_.states + at_.state(first_saved_ + next_saved_++));
    return true;
  }

  void Finish() {
    if (final_state_) StoreState(final_state_ + at_.state(sequence_));
  }

 private:
  static constexpr int64_t kStepsAhead = 8;

  // The lines of kSteps rows, and how many of them are asked for with each tile.
  struct RowLines {
    RowLines(int64_t size, int64_t row, int64_t tiles) {
      constexpr int64_t kLine = 64 / sizeof(T);
      of_row = (size + kLine - 1) / kLine;
      share = (kSteps * of_row + tiles - 1) / tiles;
      for (int64_t c = 0; c < kSteps; ++c) {
        for (int64_t i = 0; i < of_row; ++i) distances.push_back(c * row + i * kLine);
      }
    }
    int64_t of_row, share;
    std::vector<int64_t> distances;  // from the first
  };

  T* Tile(int64_t tile) { return S_ + tile * tile_ * at_.K; }

  // Tiles <-> a state [K, V] in memory.
  void LoadState(const T* state) {
    std::fill_n(S_, tiles_ * tile_ * at_.K, T{0});
    if (!state) return;
    ForEachStatePart([&](T* part, int64_t at, int64_t count) { std::copy_n(state + at, count, part); });
  }
  void StoreState(T* state) {
    ForEachStatePart([&](const T* part, int64_t at, int64_t count) {
      for (int64_t j = 0; j < count; ++j) state[at + j] = a_ * part[j];
    });
  }
  template <typename Body>
  void ForEachStatePart(const Body& body) {
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      const int64_t first = tile * tile_, count = std::min(tile_, at_.V - first);
      for (int64_t i = 0; i < at_.K; ++i) body(Tile(tile) + i * tile_, i * at_.V + first, count);
    }
  }

  // Runs the next steps, not beyond `end`. With end = 0, none: p and products are set.
  void RunBlock(int64_t end) {
    StepBlock<T> block;
    SetBlock(end, block);
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      if (block.fold != T{1}) Fold(block.fold, tile);
      block.count == kSteps && (tile + 1) * tile_ <= at_.V ? RunTile<true>(block, tile) : RunTile<false>(block, tile);
    }
    std::swap(products_, next_products_);
  }

  // Far from where 1 / a, or a state over it, would leave the range of floats.
  static bool CanHold(T a) { return std::abs(a) > T{1} / (1 << 24) && std::abs(a) < T{1 << 24}; }

  // Of `rows` rows of a block to come, a tile's share of the lines.
  HWY_INLINE LinesAhead<T> Ahead(const T* first, const RowLines& lines, int rows, int64_t tile) const {
    const int64_t count = rows * lines.of_row, begin = std::min(tile * lines.share, count);
    return {first, lines.distances.data() + begin, std::min(lines.share, count - begin)};
  }

  // The next steps, not beyond `end`.
  HWY_INLINE void SetBlock(int64_t end, StepBlock<T>& block) {
    block.k = k_, block.v = v_, block.q = q_, block.o = o_;
    block.k_ahead = k_ + keys_ahead_, block.q_ahead = q_ + queries_ahead_;
    block.errors = saved_.errors ? saved_.errors + (v_ - in_.v) : nullptr;
    block.row = key_row_;
    block.fold = 1;
    if (!SetTokens(end, block)) SetSteps(end, block);
    const int reads = ReadsBefore(block.reads, kSteps);
    step_ += block.count, token_ += reads;
    k_ += block.count * key_row_, v_ += block.count * value_row_, beta_ += block.count * at_.H;
    q_ += reads * key_row_, o_ += reads * value_row_;
    block.next = k_;
    const int64_t left = steps_ - step_;
    if (block.count < kSteps || left < kSteps) {
      block.k = CopyRows(block.k, block.count, copies_);
      block.next = CopyRows(k_, left, copies_ + kSteps * row_);
      block.q = CopyRows(block.q, reads, copies_ + 2 * kSteps * row_);
      block.row = row_;
    }
  }

  void SetFirstProducts() {
    const bool whole = steps_ >= kSteps;
    SetKeyProducts(at_.K, whole ? k_ : CopyRows(k_, steps_, copies_), whole ? key_row_ : row_, products_);
  }

  // `count` rows, then rows of zeros.   to: [kSteps, row]
  const T* CopyRows(const T* rows, int64_t count, T* to) const {
    const Tag<T> d;
    const int64_t lanes = LanesOf<T>(), whole = at_.K / lanes * lanes;
    for (int64_t c = 0; c < kSteps; ++c) {
      const T* from = rows + c * key_row_;
      T* row = to + c * row_;
      if (c >= count) {
        std::fill_n(row, at_.K, T{0});
        continue;
      }
      for (int64_t i = 0; i < whole; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, row + i);
      for (int64_t i = whole; i < at_.K; ++i) row[i] = from[i];
    }
    return to;
  }

  // What a block of tokens of one step each needs to know of each, if the state can be held through all decays.
  HWY_INLINE bool SetTokens(int64_t end, StepBlock<T>& block) {
    if (plan_.n > 1 || end - step_ < kSteps) return false;
    block.count = kSteps;
    block.reads = kAllReads;
    const T* beta = beta_;
    if (!in_.decay) {
      LRNN_UNROLL for (int c = 0; c < kSteps; ++c, beta += at_.H) {
        block.a[c] = block.over_a[c] = 1;
        block.beta[c] = *beta;
        block.scale[c] = in_.scale;
      }
      return true;
    }
    const T* decay = in_.decay + at_.decay(token_);
    T a = a_;
    bool holds = true;
    LRNN_UNROLL for (int c = 0; c < kSteps; ++c, beta += at_.H, decay += at_.H) {
      a *= *decay;
      holds &= CanHold(a);
      block.a[c] = a;
      block.over_a[c] = 1 / a;
      block.beta[c] = *beta;
      block.scale[c] = in_.scale * a;
    }
    if (holds) a_ = a;
    return holds;
  }

  // The same for any steps.
  void SetSteps(int64_t end, StepBlock<T>& block) {
    for (T* each : {block.a, block.over_a, block.beta, block.scale}) std::fill_n(each, kSteps, T{0});
    block.reads = 0;
    int64_t token = token_;
    T* scale = block.scale;
    int64_t c = 0;
    for (; c < std::min<int64_t>(kSteps, end - step_); ++c) {
      if (in_.decay && step_of_token_ == 0 && !Decay(in_.decay[at_.decay(token)], c == 0, block.fold)) break;
      block.a[c] = a_;
      block.over_a[c] = 1 / a_;
      block.beta[c] = beta_[c * at_.H];
      if (++step_of_token_ < plan_.n) continue;
      block.reads |= 1 << c;
      *scale++ = in_.scale * a_;
      step_of_token_ = 0;
      ++token;
    }
    block.count = c;
  }

  // Takes a token's decay into a_, or into what the state is multiplied with if that can be; false: it cannot be here,
  // and the token has to start a block.
  HWY_INLINE bool Decay(T decay, bool starts_block, T& fold) {
    const T a = a_ * decay;
    if (CanHold(a)) {
      a_ = a;
    } else if (starts_block) {
      a_ = 1;
      fold = a;
    } else {
      return false;
    }
    return true;
  }

  // Reads happen after all steps with n_h = 1, after every other with 2, after one in n_h with more.
  template <bool kWhole>
  HWY_INLINE void RunTile(const StepBlock<T>& block, int64_t tile) {
    switch (block.reads) {
      case 0b0000:
        return RunTile<kWhole, 0b0000>(block, tile);
      case 0b0001:
        return RunTile<kWhole, 0b0001>(block, tile);
      case 0b0010:
        return RunTile<kWhole, 0b0010>(block, tile);
    }
    if constexpr (kSteps == 4) {
      switch (block.reads) {
        case 0b0100:
          return RunTile<kWhole, 0b0100>(block, tile);
        case 0b1000:
          return RunTile<kWhole, 0b1000>(block, tile);
        case 0b1001:
          return RunTile<kWhole, 0b1001>(block, tile);
        case 0b1010:
          return RunTile<kWhole, 0b1010>(block, tile);
      }
    }
    RunTile<kWhole, kAllReads>(block, tile);  // of those the first
  }

  void Fold(T factor, int64_t tile) {
    T* S = Tile(tile);
    T* p = p_ + tile * tile_ * kSteps;
    for (int64_t i = 0; i < tile_ * at_.K; ++i) S[i] *= factor;
    for (int64_t i = 0; i < tile_ * kSteps; ++i) p[i] *= factor;
  }

  // With S, p = S^T k and f = e all over a:
  //   f_c = v_c / a_c - p_c - sum_{b < c} (k_c . k_b) beta_b f_b
  //   w_c = beta_c f_c   e_c = a_c f_c   o_r = scale a_c S^T q_r
  // kWhole: there are kSteps steps, and all columns of the tile exist.
  template <bool kWhole, int kReads>
  HWY_NOINLINE void RunTile(const StepBlock<T>& block, int64_t tile) {
    const Tag<T> d;
    const int64_t lanes = LanesOf<T>(), tile_width = kVectors * lanes, first = tile * tile_width,
                  columns = at_.V - first;
    T* HWY_RESTRICT const p_memory = p_ + tile * tile_width * kSteps;
    Vector<T> f[kSteps][kVectors], w[kSteps][kVectors], beta[kSteps], o[kSteps][kVectors], p[kSteps][kVectors];
    const T* v = block.v + first;
    LRNN_UNROLL for (int c = 0; c < kSteps; ++c, v += value_row_) {
      const auto over_a = hn::Set(d, block.over_a[c]);
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        const auto vc = LoadPart<kWhole>(v + j * lanes, Left<kWhole>(block, c, columns, j));
        f[c][j] = hn::MulSub(over_a, vc, hn::Load(d, p_memory + c * tile_width + j * lanes));
      }
      LRNN_UNROLL for (int b = 0; b < c; ++b) {
        const auto factor = hn::Mul(beta[b], hn::Set(d, products_[KeyProduct(c, b)]));
        LRNN_UNROLL for (int j = 0; j < kVectors; ++j) f[c][j] = hn::NegMulAdd(factor, f[b][j], f[c][j]);
      }
      beta[c] = hn::Set(d, block.beta[c]);
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        w[c][j] = kWhole || c < block.count ? hn::Mul(beta[c], f[c][j]) : hn::Zero(d);
      }
    }
    if (block.errors) {
      T* errors = block.errors + first;
      LRNN_UNROLL for (int c = 0; c < kSteps; ++c, errors += value_row_) {
        LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
          StorePart<kWhole>(hn::Mul(hn::Set(d, block.a[c]), f[c][j]), errors + j * lanes,
                            Left<kWhole>(block, c, columns, j));
        }
      }
    }
    // While the updates come to be, which each wait for the one before.
    if (tile == 0) SetKeyProducts(at_.K, block.next, block.row, next_products_);
    constexpr int kReadRows = ReadsBefore(kReads, kSteps);
    const LinesAhead<T> ahead[kArraysAhead] = {
        Ahead(block.k_ahead, key_lines_, kSteps, tile), Ahead(block.v + values_ahead_, value_lines_, kSteps, tile),
        Ahead(block.q_ahead, key_lines_, kReadRows, tile),
        Ahead(block.o + outputs_ahead_, value_lines_, kReadRows, tile),
        Ahead(block.errors ? block.errors + values_ahead_ : nullptr, value_lines_, block.errors ? kSteps : 0, tile)};
    Sweep<kReads>(at_.K, block.k, block.q, block.next, block.row, w, ahead, Tile(tile), o, p);
    T* out = block.o + first;
    LRNN_UNROLL for (int c = 0; c < kSteps; ++c) {
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) hn::Store(p[c][j], d, p_memory + c * tile_width + j * lanes);
    }
    LRNN_UNROLL for (int r = 0; r < kSteps; ++r, out += value_row_) {
      if (r >= kReadRows) continue;
      const bool runs = kWhole || kReads != kAllReads || ReadsAfter(block.reads, r);
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        StorePart<kWhole>(hn::Mul(hn::Set(d, block.scale[r]), o[r][j]), out + j * lanes,
                          runs ? columns - j * lanes : 0);
      }
    }
  }

  // How many columns vector j of a tile has at a step.
  template <bool kWhole>
  static HWY_INLINE int64_t Left(const StepBlock<T>& block, int64_t step, int64_t columns, int64_t j) {
    return kWhole || step < block.count ? columns - j * LanesOf<T>() : 0;
  }

  // `left` numbers of a vector, if they are not known to be all.
  template <bool kWhole>
  static HWY_INLINE Vector<T> LoadPart(const T* from, int64_t left) {
    if constexpr (kWhole) return hn::LoadU(Tag<T>(), from);
    return left > 0 ? LoadSome(from, left) : hn::Zero(Tag<T>());
  }
  template <bool kWhole>
  static HWY_INLINE void StorePart(Vector<T> v, T* to, int64_t left) {
    if constexpr (kWhole) return hn::StoreU(v, Tag<T>(), to);
    if (left > 0) StoreSome(v, to, left);
  }

  const DeltaRuleShape& shape_;
  const DeltaRuleInputs<T>& in_;
  T* out_;
  T* final_state_;
  const DeltaRuleSaved<T>& saved_;
  const HeadRows at_;
  const ChunkPlan plan_;
  const int64_t tile_, tiles_;
  const int64_t key_row_, value_row_;  // from one step's row to the next, or one token's
  const RowLines key_lines_, value_lines_;
  const int64_t row_;                                                  // the same for copies: not a multiple of a page
  int64_t keys_ahead_, values_ahead_, queries_ahead_, outputs_ahead_;  // to rows that are prefetched

  // The sequence at work, and the next step.
  int64_t sequence_ = 0, first_token_ = 0, steps_ = 0, chunks_ = 0, first_saved_ = 0;
  int64_t step_ = 0, token_ = 0, step_of_token_ = 0, next_saved_ = 0;
  const T* k_ = nullptr;  // of the next step
  const T* v_ = nullptr;
  const T* beta_ = nullptr;
  const T* q_ = nullptr;  // of its token
  T* o_ = nullptr;
  T a_ = 1;  // what S_ and p_ are to be multiplied with

  hwy::AlignedFreeUniquePtr<T[]> scratch_;
  T* S_;                          // [tiles, K, tile]
  T* p_;                          // [tiles, kSteps, tile] S^T k of the next steps
  T *products_, *next_products_;  // of the next block's keys, and of those after
  T* copies_;                     // [3, kSteps, row] of rows
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
