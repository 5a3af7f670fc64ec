// The forward pass of the delta rule for one sequence and one head, compiled once for each SIMD target.
// docs/math/delta_rule.md derives it.
//
// Lanes run over the columns of S, which evolve independently given (k, beta, decay). Two Householder steps share one
// sweep over a tile of columns: a row of S is loaded, updated by both, read by the queries after each, read by the keys
// of the next two steps, and stored.

#include <algorithm>
#include <cmath>

#include "lrnn/kernels/delta_rule.h"
#include "lrnn/kernels/delta_rule_chunk-inl.h"

#if defined(LRNN_KERNELS_DELTA_RULE_FORWARD_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_FORWARD_INL_
#undef LRNN_KERNELS_DELTA_RULE_FORWARD_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_FORWARD_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// A tile of columns is two vectors wide: the vectors of both updates and of all four reads are 12 of 16 registers.
constexpr int kVectors = 2;

// For each row i of a tile S: [K, tile], with rows of keys and queries `row` apart:
//   S_i <- S_i + k_0i w_0      o_0 <- o_0 + q_0i S_i
//   S_i <- S_i + k_1i w_1      o_1 <- o_1 + q_1i S_i      p_c <- p_c + next_ci S_i
template <bool kRead0, bool kRead1, typename T>
HWY_INLINE void Sweep(int64_t K, int64_t row, const T* HWY_RESTRICT k, const T* HWY_RESTRICT q,
                      const T* HWY_RESTRICT next, const Vector<T> (&w)[2][kVectors], T* HWY_RESTRICT S,
                      Vector<T> (&o)[2][kVectors], Vector<T> (&p)[2][kVectors]) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  LRNN_UNROLL for (int c = 0; c < 2; ++c) {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) o[c][j] = p[c][j] = hn::Zero(d);
  }
  const T* HWY_RESTRICT k1 = k + row;
  const T* HWY_RESTRICT q1 = q + row;
  const T* HWY_RESTRICT next1 = next + row;
  for (int64_t i = 0; i < K; ++i, S += kVectors * lanes) {
    Vector<T> s[kVectors];
    auto x = hn::Set(d, k[i]);
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) s[j] = hn::MulAdd(x, w[0][j], hn::Load(d, S + j * lanes));
    if constexpr (kRead0) {
      x = hn::Set(d, q[i]);
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) o[0][j] = hn::MulAdd(x, s[j], o[0][j]);
    }
    x = hn::Set(d, k1[i]);
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
      s[j] = hn::MulAdd(x, w[1][j], s[j]);
      hn::Store(s[j], d, S + j * lanes);
    }
    if constexpr (kRead1) {
      x = hn::Set(d, q1[i]);
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) o[1][j] = hn::MulAdd(x, s[j], o[1][j]);
    }
    x = hn::Set(d, next[i]);
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) p[0][j] = hn::MulAdd(x, s[j], p[0][j]);
    x = hn::Set(d, next1[i]);
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) p[1][j] = hn::MulAdd(x, s[j], p[1][j]);
  }
}

// Up to two consecutive Householder steps of a sequence. The state is held as S / a, a the product of the decays since
// it was last brought to S, so that a decay costs nothing per element.
template <typename T>
struct StepPair {
  int64_t count;  // 0 to 2; none: the state is only read with the next keys
  T fold;         // the held state is multiplied by this first; 1: nothing to do
  T a[2];         // at each step
  T beta_over_a[2];
  T scale[2];     // of a read: that of all reads times a
  T key_key;      // k_0 . k_1
  const T* v[2];  // rows of each step, from here on
  T* errors[2];
  const T* q[2];  // null: nothing is read after the step
  T* o[2];
};

// Keys and queries of a block of pairs, copied to rows that do not lie a power of two apart: with two tiles of columns
// they stay in the first-level cache.
template <typename T>
class PairRows {
 public:
  static constexpr int64_t kPairs = 4;

  PairRows(int64_t K, int64_t V)
      : K_(K), row_(hwy::RoundUpTo(K, LanesOf<T>()) + kGap), unwanted_(hwy::AllocateAligned<T>(V)) {
    const int64_t size = 2 * kSteps * row_;
    memory_ = hwy::AllocateAligned<T>(size);
    std::fill_n(memory_.get(), size, T{0});
  }

  int64_t row() const { return row_; }
  T* key(int64_t i) { return memory_.get() + i * row_; }
  T* query(int64_t i) { return memory_.get() + (kSteps + i) * row_; }
  T* unwanted() { return unwanted_.get(); }  // where a row of V numbers goes that nobody reads

  HWY_INLINE void Load(const T* HWY_RESTRICT from, T* HWY_RESTRICT to) const {
    const Tag<T> d;
    const int64_t lanes = LanesOf<T>();
    int64_t i = 0;
    for (; i + lanes <= K_; i += lanes) hn::Store(hn::LoadU(d, from + i), d, to + i);
    if (i < K_) hn::Store(LoadSome(from + i, K_ - i), d, to + i);
  }
  void Clear(T* row) const { std::fill_n(row, row_, T{0}); }
  // k_i . k_{i+1}
  HWY_INLINE T KeyKey(int64_t i) {
    const Tag<T> d;
    const T* HWY_RESTRICT k = key(i);
    auto sum = hn::Zero(d);
    for (int64_t x = 0; x < K_; x += LanesOf<T>()) {
      sum = hn::MulAdd(hn::Load(d, k + x), hn::Load(d, k + row_ + x), sum);
    }
    return SumLanes<T>(sum);
  }

 private:
  static constexpr int64_t kSteps = 2 * kPairs + 2;  // two keys more than steps, for p
  static constexpr int64_t kGap = 16;

  const int64_t K_, row_;
  hwy::AlignedFreeUniquePtr<T[]> memory_, unwanted_;
};

// The forward pass of one head, sequence by sequence: Start, RunBlock until the sequence is at its end, Finish.
template <typename T>
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
    scratch_ = hwy::AllocateAligned<T>(tiles_ * tile_ * (at_.K + 2));
    S_ = scratch_.get();
    p_ = S_ + tiles_ * tile_ * at_.K;
  }

  void Start(int64_t sequence, int64_t first_saved, PairRows<T>& rows) {
    sequence_ = sequence;
    first_token_ = token_ = shape_.cu_seqlens[sequence];
    const int64_t tokens = shape_.cu_seqlens[sequence + 1] - first_token_;
    steps_ = tokens * plan_.n;
    chunks_ = plan_.ChunksOf(tokens);
    first_saved_ = first_saved;
    step_ = step_of_token_ = next_saved_ = 0;
    a_ = 1;
    LoadState(in_.initial_state ? in_.initial_state + at_.state(sequence) : nullptr);
    std::fill_n(p_, tiles_ * tile_ * 2, T{0});
    if (in_.initial_state && steps_ > 0) RunPairs(0, rows);  // p of the first pair
  }

  // Runs the next pairs of steps; false: there are none.
  bool RunBlock(PairRows<T>& rows) {
    if (step_ == steps_) return false;
    // States are saved between blocks.
    const int64_t next = (next_saved_ + 1) * SaveEvery(at_.K);
    const bool saves = saved_.states && next < chunks_;
    const int64_t end = saves ? plan_.FirstStep(next) : steps_;
    RunPairs(end, rows);
    if (saves && step_ == end) StoreState(saved_.states + at_.state(first_saved_ + next_saved_++));
    return true;
  }

  void Finish() {
    if (final_state_) StoreState(final_state_ + at_.state(sequence_));
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

  // Runs up to kPairs pairs of steps, not beyond `end`. With end = 0, one pair without steps.
  void RunPairs(int64_t end, PairRows<T>& rows) {
    StepPair<T> pairs[PairRows<T>::kPairs];
    const int64_t first = step_, start = first_token_ * plan_.n;
    int64_t count = 0, steps = 0;
    do {
      StepPair<T>& pair = pairs[count++];
      SetPair(end, rows, pair);
      for (int c = 0; c < 2; ++c) {
        if (pair.q[c]) rows.Load(pair.q[c], rows.query(steps + c));
      }
      steps += pair.count;
    } while (step_ < end && count < PairRows<T>::kPairs);
    const T* k = in_.k + at_.k(start + first);
    for (int64_t i = 0; i < steps + 2; ++i, k += at_.H * at_.K) {
      first + i < steps_ ? rows.Load(k, rows.key(i)) : rows.Clear(rows.key(i));
    }
    int64_t row = 0;
    for (int64_t i = 0; i < count; row += pairs[i++].count) pairs[i].key_key = rows.KeyKey(row);
    PrefetchSteps(start + step_ + 2, start + step_ + 2 + 2 * PairRows<T>::kPairs);
    // Pairs of one tile wait for each other, those of two tiles do not.
    for (int64_t tile = 0; tile < tiles_; tile += 2) {
      row = 0;
      for (int64_t i = 0; i < count; row += pairs[i++].count) {
        RunPair(pairs[i], row, tile, rows);
        if (tile + 1 < tiles_) RunPair(pairs[i], row, tile + 1, rows);
      }
    }
  }

  // Far from where 1 / a, or a state over it, would leave the range of floats.
  static bool CanHold(T a) { return std::abs(a) > T{1} / (1 << 24) && std::abs(a) < T{1 << 24}; }

  // Rows of the steps to come, of this sequence or the next.
  HWY_INLINE void PrefetchSteps(int64_t begin, int64_t end) const {
    end = std::min(end, shape_.cu_seqlens[shape_.sequences] * plan_.n);
    const T* k = in_.k + at_.k(begin);
    const T* v = in_.v + at_.v(begin);
    const T* errors = saved_.errors ? saved_.errors + at_.v(begin) : v;
    for (int64_t step = begin; step < end; ++step, k += at_.H * at_.K, v += at_.H * at_.V, errors += at_.H * at_.V) {
      PrefetchRow(k, at_.K);
      PrefetchRow(v, at_.V);
      PrefetchRow(errors, at_.V);
    }
    const T* q = in_.q + at_.q(begin / plan_.n);
    const T* o = o_ + at_.o(begin / plan_.n);
    for (int64_t token = begin / plan_.n; token < end / plan_.n; ++token, q += at_.H * at_.K, o += at_.H * at_.V) {
      PrefetchRow(q, at_.K);
      PrefetchRow(o, at_.V);
    }
  }

  // The next pair of steps.
  HWY_INLINE void SetPair(int64_t end, PairRows<T>& rows, StepPair<T>& pair) {
    pair.count = std::min<int64_t>(2, end - step_);
    pair.fold = 1;
    for (int c = 0; c < 2; ++c) {
      pair.a[c] = pair.beta_over_a[c] = pair.scale[c] = 0;
      pair.q[c] = nullptr;
      pair.v[c] = pair.errors[c] = pair.o[c] = rows.unwanted();
      if (c >= pair.count) continue;
      if (in_.decay && step_of_token_ == 0) {
        const T a = a_ * in_.decay[at_.decay(token_)];
        if (CanHold(a)) {
          a_ = a;
        } else if (c == 0) {
          a_ = 1;
          pair.fold = a;
        } else {
          pair.count = 1;  // it is folded at the start of the next pair
          continue;
        }
      }
      const int64_t step = first_token_ * plan_.n + step_++, v = at_.v(step);
      const T beta = in_.beta[at_.beta(step)];
      pair.a[c] = a_;
      pair.beta_over_a[c] = in_.decay ? beta / a_ : beta;
      pair.v[c] = in_.v + v;
      if (saved_.errors) pair.errors[c] = saved_.errors + v;
      if (++step_of_token_ == plan_.n) {
        pair.scale[c] = in_.scale * a_;
        pair.q[c] = in_.q + at_.q(token_);
        pair.o[c] = o_ + at_.o(token_++);
        step_of_token_ = 0;
      }
    }
  }

  void RunPair(const StepPair<T>& pair, int64_t row, int64_t tile, PairRows<T>& rows) {
    if (pair.fold != T{1}) Fold(pair.fold, tile);
    if (pair.count == 2 && (tile + 1) * tile_ <= at_.V) {
      RunPair<true>(pair, row, tile, rows);
    } else {
      RunPair<false>(pair, row, tile, rows);
    }
  }
  template <bool kWhole>
  HWY_INLINE void RunPair(const StepPair<T>& pair, int64_t row, int64_t tile, PairRows<T>& rows) {
    if (pair.q[0]) {
      pair.q[1] ? RunPair<kWhole, true, true>(pair, row, tile, rows)
                : RunPair<kWhole, true, false>(pair, row, tile, rows);
    } else {
      pair.q[1] ? RunPair<kWhole, false, true>(pair, row, tile, rows)
                : RunPair<kWhole, false, false>(pair, row, tile, rows);
    }
  }

  void Fold(T factor, int64_t tile) {
    T* S = Tile(tile);
    T* p = p_ + tile * tile_ * 2;
    for (int64_t i = 0; i < tile_ * at_.K; ++i) S[i] *= factor;
    for (int64_t i = 0; i < tile_ * 2; ++i) p[i] *= factor;
  }

  // With S and p = S^T k over a:
  //   e_0 = v_0 - a_0 p_0                       w_0 = beta_0 e_0 / a_0
  //   e_1 = v_1 - a_1 (p_1 + (k_0 . k_1) w_0)   w_1 = beta_1 e_1 / a_1          o_c = scale a_c S^T q_c
  // kWhole: there are two steps, and all columns of the tile exist.
  // What is loaded is loaded before anything is stored: a stored vector may be any memory to the compiler, members too.
  template <bool kWhole, bool kRead0, bool kRead1>
  HWY_NOINLINE void RunPair(const StepPair<T>& pair, int64_t row, int64_t tile, PairRows<T>& rows) {
    const Tag<T> d;
    const int64_t lanes = LanesOf<T>(), tile_width = kVectors * lanes, first = tile * tile_width,
                  columns = at_.V - first;
    T* HWY_RESTRICT p_memory = p_ + tile * tile_width * 2;
    T* HWY_RESTRICT const S = Tile(tile);
    const int64_t K = at_.K, key_row = rows.row();
    const T* HWY_RESTRICT k = rows.key(row);
    const T* HWY_RESTRICT q = rows.query(row);
    const T* HWY_RESTRICT next = rows.key(row + pair.count);
    const bool steps[2] = {kWhole || pair.count > 0, kWhole || pair.count > 1};
    T* const errors[2] = {pair.errors[0] + first, pair.errors[1] + first};
    T* const out[2] = {pair.o[0] + first, pair.o[1] + first};
    const T scale[2] = {pair.scale[0], pair.scale[1]};
    Vector<T> e[2][kVectors], w[2][kVectors], o[2][kVectors], p[2][kVectors];
    LRNN_UNROLL for (int c = 0; c < 2; ++c) {
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        auto read = hn::Load(d, p_memory + c * tile_width + j * lanes);
        if (c == 1) read = hn::MulAdd(hn::Set(d, pair.key_key), w[0][j], read);
        const auto v = LoadPart<kWhole>(pair.v[c] + first + j * lanes, steps[c] ? columns - j * lanes : 0);
        e[c][j] = hn::NegMulAdd(hn::Set(d, pair.a[c]), read, v);
        w[c][j] = hn::Mul(hn::Set(d, pair.beta_over_a[c]), e[c][j]);
      }
    }
    LRNN_UNROLL for (int c = 0; c < 2; ++c) {
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        StorePart<kWhole>(e[c][j], errors[c] + j * lanes, steps[c] ? columns - j * lanes : 0);
      }
    }
    Sweep<kRead0, kRead1>(K, key_row, k, q, next, w, S, o, p);
    LRNN_UNROLL for (int c = 0; c < 2; ++c) {
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) {
        hn::Store(p[c][j], d, p_memory + c * tile_width + j * lanes);
        if (c == 0 ? !kRead0 : !kRead1) continue;
        StorePart<kWhole>(hn::Mul(hn::Set(d, scale[c]), o[c][j]), out[c] + j * lanes, columns - j * lanes);
      }
    }
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
  T* o_;
  T* final_state_;
  const DeltaRuleSaved<T>& saved_;
  const HeadRows at_;
  const ChunkPlan plan_;
  const int64_t tile_, tiles_;

  // The sequence at work, and the next step.
  int64_t sequence_ = 0, first_token_ = 0, steps_ = 0, chunks_ = 0, first_saved_ = 0;
  int64_t step_ = 0, token_ = 0, step_of_token_ = 0, next_saved_ = 0;
  T a_ = 1;  // what S_ and p_ are to be multiplied with

  hwy::AlignedFreeUniquePtr<T[]> scratch_;
  T* S_;  // [tiles, K, tile]
  T* p_;  // [tiles, 2, tile] S^T k of the next two steps
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
