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

// For each row i of a tile S: [K, tile]:
//   S_i <- S_i + k_0i w_0      o_0 <- o_0 + q_0i S_i
//   S_i <- S_i + k_1i w_1      o_1 <- o_1 + q_1i S_i      p_c <- p_c + next_ci S_i
template <bool kRead0, bool kRead1, typename T>
HWY_INLINE void Sweep(int64_t K, const T* const (&k)[2], const T* const (&q)[2], const T* const (&next)[2],
                      const Vector<T> (&w)[2][kVectors], T* HWY_RESTRICT S, Vector<T> (&o)[2][kVectors],
                      Vector<T> (&p)[2][kVectors]) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  LRNN_UNROLL for (int c = 0; c < 2; ++c) {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) o[c][j] = p[c][j] = hn::Zero(d);
  }
  const T* HWY_RESTRICT k0 = k[0];
  const T* HWY_RESTRICT k1 = k[1];
  const T* HWY_RESTRICT q0 = q[0];
  const T* HWY_RESTRICT q1 = q[1];
  const T* HWY_RESTRICT next0 = next[0];
  const T* HWY_RESTRICT next1 = next[1];
  _Pragma("GCC unroll 2") for (int64_t i = 0; i < K; ++i, S += kVectors * lanes) {
    Vector<T> s[kVectors];
    auto x = hn::Set(d, k0[i]);
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) s[j] = hn::MulAdd(x, w[0][j], hn::Load(d, S + j * lanes));
    if constexpr (kRead0) {
      x = hn::Set(d, q0[i]);
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
    x = hn::Set(d, next0[i]);
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
  T scale[2];        // of a read: that of all reads times a
  T key_key;         // k_0 . k_1
  const T* k[2];     // rows of each step, from here on
  const T* next[2];  // the keys of the next two steps
  const T* v[2];
  T* errors[2];
  const T* q[2];  // null: nothing is read after the step
  T* o[2];
};

// Stand-ins for rows that a pair of steps does not have.
template <typename T>
class BlankRows {
 public:
  // One more than needed: the allocator refuses 0 elements.
  BlankRows(int64_t K, int64_t V) : zeros_(hwy::AllocateAligned<T>(K + 1)), unwanted_(hwy::AllocateAligned<T>(V + 1)) {
    std::fill_n(zeros_.get(), K, T{0});
  }
  const T* zeros() const { return zeros_.get(); }  // [K]
  T* unwanted() const { return unwanted_.get(); }  // [V], where a row goes that nobody reads

 private:
  hwy::AlignedFreeUniquePtr<T[]> zeros_, unwanted_;
};

// x . y
template <typename T>
HWY_INLINE T DotOfRows(int64_t size, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  auto sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= size; i += lanes) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
  if (i < size) sum = hn::MulAdd(LoadSome(x + i, size - i), LoadSome(y + i, size - i), sum);
  return SumLanes<T>(sum);
}

// The forward pass of one head, sequence by sequence: Start, RunBlock until the sequence is at its end, Finish.
template <typename T>
class ForwardPass {
 public:
  ForwardPass(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, T* o, T* final_state,
              const DeltaRuleSaved<T>& saved, int64_t head, const BlankRows<T>& blank)
      : shape_(shape),
        in_(in),
        out_(o),
        final_state_(final_state),
        saved_(saved),
        blank_(blank),
        at_(shape, head),
        plan_(shape.householders),
        tile_(kVectors * LanesOf<T>()),
        tiles_((at_.V + tile_ - 1) / tile_),
        pairs_(StatesInCache(shape, sizeof(T)) > 0 ? 1 : kMostPairs),
        key_row_(at_.H * at_.K),
        value_row_(at_.H * at_.V),
        tokens_ahead_((kStepsAhead + plan_.n - 1) / plan_.n),
        steps_ahead_(tokens_ahead_ * plan_.n) {
    scratch_ = hwy::AllocateAligned<T>(tiles_ * tile_ * (at_.K + 2));
    S_ = scratch_.get();
    p_ = S_ + tiles_ * tile_ * at_.K;
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
    std::fill_n(p_, tiles_ * tile_ * 2, T{0});
    if (in_.initial_state && steps_ > 0) RunPairs(0);  // p of the first pair
  }

  // Runs the next pairs of steps; false: there are none.
  bool RunBlock() {
    if (step_ == steps_) return false;
    // States are saved between blocks.
    const int64_t next = (next_saved_ + 1) * SaveEvery(at_.K);
    const bool saves = saved_.states && next < chunks_;
    const int64_t end = saves ? plan_.FirstStep(next) : steps_;
    RunPairs(end);
    if (saves && step_ == end) StoreState(saved_.states + at_.state(first_saved_ + next_saved_++));
    return true;
  }

  void Finish() {
    if (final_state_) StoreState(final_state_ + at_.state(sequence_));
  }

 private:
  // A state that does not stay in the first-level cache is swept tile by tile, so many pairs of steps each.
  static constexpr int64_t kMostPairs = 4;
  static constexpr int64_t kStepsAhead = 8;

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

  // Runs the pairs of steps of a block, not beyond `end`. With end = 0, one pair without steps.
  void RunPairs(int64_t end) {
    StepPair<T> pairs[kMostPairs];
    int64_t count = 0;
    do {
      const bool plain = plan_.n == 1 && !in_.decay && end - step_ >= 4;
      plain ? SetPair<true>(end, pairs[count++]) : SetPair<false>(end, pairs[count++]);
    } while (step_ < end && count < pairs_);
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      for (int64_t i = 0; i < count; ++i) {
        if (tile == 0) PrefetchAhead(pairs[i]);
        RunPair(pairs[i], tile);
      }
    }
  }

  // Far from where 1 / a, or a state over it, would leave the range of floats.
  static bool CanHold(T a) { return std::abs(a) > T{1} / (1 << 24) && std::abs(a) < T{1 << 24}; }

  // The rows of a pair to come, of this sequence or the next.
  HWY_INLINE void PrefetchAhead(const StepPair<T>& pair) const {
    const int64_t keys = steps_ahead_ * key_row_, values = steps_ahead_ * value_row_;
    const T* const errors[2] = {saved_.errors ? pair.errors[0] : pair.v[0], saved_.errors ? pair.errors[1] : pair.v[1]};
    PrefetchRows({pair.k[0] + keys, pair.k[1] + keys}, at_.K);
    PrefetchRows({pair.v[0] + values, pair.v[1] + values, errors[0] + values, errors[1] + values}, at_.V);
    for (int c = 0; c < 2; ++c) {
      if (!pair.q[c]) continue;
      PrefetchRows({pair.q[c] + tokens_ahead_ * key_row_}, at_.K);
      PrefetchRows({pair.o[c] + tokens_ahead_ * value_row_}, at_.V);
    }
  }

  // The next pair of steps. kPlain: each step is a token, nothing decays, and there are at least four of them.
  template <bool kPlain>
  HWY_INLINE void SetPair(int64_t end, StepPair<T>& pair) {
    const T *k = k_, *v = v_, *beta = beta_, *q = q_;
    T* o = o_;
    const int64_t key_row = key_row_, value_row = value_row_;
    pair.count = kPlain ? 2 : std::min<int64_t>(2, end - step_);
    pair.fold = 1;
    LRNN_UNROLL for (int c = 0; c < 2; ++c) {
      if constexpr (!kPlain) {
        pair.a[c] = pair.beta_over_a[c] = pair.scale[c] = 0;
        pair.q[c] = nullptr;
        pair.k[c] = blank_.zeros();
        pair.v[c] = pair.errors[c] = pair.o[c] = blank_.unwanted();
        if (c >= pair.count) continue;
        if (in_.decay && step_of_token_ == 0 && !Decay(c == 0, pair.fold)) {
          pair.count = 1;
          continue;
        }
      }
      pair.a[c] = a_;
      pair.beta_over_a[c] = in_.decay ? *beta / a_ : *beta;
      pair.k[c] = k;
      pair.v[c] = v;
      pair.errors[c] = saved_.errors ? saved_.errors + (v - in_.v) : blank_.unwanted();
      k += key_row, v += value_row, beta += at_.H;
      if (kPlain || ++step_of_token_ == plan_.n) {
        pair.scale[c] = in_.scale * a_;
        pair.q[c] = q;
        pair.o[c] = o;
        q += key_row, o += value_row, ++token_;
        step_of_token_ = 0;
      }
    }
    k_ = k, v_ = v, beta_ = beta, q_ = q, o_ = o, step_ += pair.count;
    pair.key_key = pair.count == 2 ? DotOfRows(at_.K, pair.k[0], pair.k[1]) : T{0};
    pair.next[0] = kPlain || step_ < steps_ ? k : blank_.zeros();
    pair.next[1] = kPlain || step_ + 1 < steps_ ? k + key_row : blank_.zeros();
  }

  // Takes the next token's decay into a_, or into what the state is multiplied with if that can be; false: it cannot be
  // here, and the token has to start a pair.
  HWY_INLINE bool Decay(bool starts_pair, T& fold) {
    const T a = a_ * in_.decay[at_.decay(token_)];
    if (CanHold(a)) {
      a_ = a;
    } else if (starts_pair) {
      a_ = 1;
      fold = a;
    } else {
      return false;
    }
    return true;
  }

  void RunPair(const StepPair<T>& pair, int64_t tile) {
    if (pair.fold != T{1}) Fold(pair.fold, tile);
    if (pair.count == 2 && (tile + 1) * tile_ <= at_.V) {
      RunPair<true>(pair, tile);
    } else {
      RunPair<false>(pair, tile);
    }
  }
  template <bool kWhole>
  HWY_INLINE void RunPair(const StepPair<T>& pair, int64_t tile) {
    if (pair.q[0]) {
      pair.q[1] ? RunPair<kWhole, true, true>(pair, tile) : RunPair<kWhole, true, false>(pair, tile);
    } else {
      pair.q[1] ? RunPair<kWhole, false, true>(pair, tile) : RunPair<kWhole, false, false>(pair, tile);
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
  HWY_NOINLINE void RunPair(const StepPair<T>& pair, int64_t tile) {
    const Tag<T> d;
    const int64_t lanes = LanesOf<T>(), tile_width = kVectors * lanes, first = tile * tile_width,
                  columns = at_.V - first;
    T* HWY_RESTRICT p_memory = p_ + tile * tile_width * 2;
    T* HWY_RESTRICT const S = Tile(tile);
    const int64_t K = at_.K;
    const T* const k[2] = {pair.k[0], pair.k[1]};
    const T* const q[2] = {pair.q[0], pair.q[1]};
    const T* const next[2] = {pair.next[0], pair.next[1]};
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
    Sweep<kRead0, kRead1>(K, k, q, next, w, S, o, p);
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
  T* out_;
  T* final_state_;
  const DeltaRuleSaved<T>& saved_;
  const BlankRows<T>& blank_;
  const HeadRows at_;
  const ChunkPlan plan_;
  const int64_t tile_, tiles_;
  const int64_t pairs_;                       // of a block
  const int64_t key_row_, value_row_;         // from one step's row to the next, or one token's
  const int64_t tokens_ahead_, steps_ahead_;  // that rows are prefetched

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
  T* S_;  // [tiles, K, tile]
  T* p_;  // [tiles, 2, tile] S^T k of the next two steps
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
