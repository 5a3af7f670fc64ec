// The delta rule for one sequence and one head, compiled once for each SIMD target. docs/math/delta_rule.md derives it.
//
// Columns of S evolve independently given (k, beta, decay), so both passes work on a tile of columns that stays in L1.
// Forward, lanes run over columns; one sweep over the tile applies the update of a step, reads o, and forms S^T k of
// the next step. The backward pass: delta_rule_backward-inl.h.

#include <algorithm>

#include "lrnn/kernels/delta_rule.h"

#ifndef LRNN_KERNELS_DELTA_RULE_ONCE_
#define LRNN_KERNELS_DELTA_RULE_ONCE_
namespace lrnn::kernels {

// The backward pass recomputes the states inside blocks of about 16 Householder steps; a block is whole tokens.
inline int64_t DeltaRuleBlockTokens(int64_t householders) { return std::max<int64_t>(1, 16 / householders); }

}  // namespace lrnn::kernels
#endif

#if defined(LRNN_KERNELS_DELTA_RULE_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_INL_
#undef LRNN_KERNELS_DELTA_RULE_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;

// Forward tiles are kVectors vectors wide: 3 * kVectors accumulators and 3 broadcasts fill 16 registers, and give the
// two FMA ports enough independent chains to hide their latency.
template <typename T>
constexpr size_t kVectors = hn::MaxLanes(Tag<T>()) >= 16 ? 2 : 4;
template <typename T>
constexpr size_t kTile = kVectors<T>* hn::MaxLanes(Tag<T>());

// S <- decay S + k w^T,  o <- S^T q,  p <- S^T k_next, for a tile S: [K, kTile].
template <bool kDecay, bool kRead, typename T>
HWY_INLINE void Sweep(int64_t K, T decay, const T* HWY_RESTRICT k, const T* HWY_RESTRICT q,
                      const T* HWY_RESTRICT k_next, const T* HWY_RESTRICT w, T* HWY_RESTRICT S, T* HWY_RESTRICT o,
                      T* HWY_RESTRICT p) {
  constexpr size_t J = kVectors<T>;
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto a = hn::Set(d, decay);
  Vector<T> wv[J], ov[J], pv[J];
  for (size_t j = 0; j < J; ++j) {
    wv[j] = hn::Load(d, w + j * lanes);
    ov[j] = pv[j] = hn::Zero(d);
  }
  for (int64_t i = 0; i < K; ++i) {
    const auto ki = hn::Set(d, k[i]);
    const auto qi = hn::Set(d, q[i]);
    const auto ni = hn::Set(d, k_next[i]);
    T* HWY_RESTRICT row = S + i * J * lanes;
    for (size_t j = 0; j < J; ++j) {
      auto s = hn::Load(d, row + j * lanes);
      if constexpr (kDecay) s = hn::Mul(a, s);
      s = hn::MulAdd(ki, wv[j], s);
      hn::Store(s, d, row + j * lanes);
      if constexpr (kRead) ov[j] = hn::MulAdd(qi, s, ov[j]);
      pv[j] = hn::MulAdd(ni, s, pv[j]);
    }
  }
  for (size_t j = 0; j < J; ++j) {
    if constexpr (kRead) hn::Store(ov[j], d, o + j * lanes);
    hn::Store(pv[j], d, p + j * lanes);
  }
}

// Where the rows of one head start, and how far apart they are.
template <typename T>
struct HeadRows {
  HeadRows(const DeltaRuleShape& shape, int64_t head)
      : H(shape.heads), K(shape.key_width), V(shape.value_width), n(shape.householders), head(head) {}
  // Token rows of q, o; step rows (token * n_h + j) of k, v, beta; states.
  int64_t q(int64_t token) const { return (token * H + head) * K; }
  int64_t o(int64_t token) const { return (token * H + head) * V; }
  int64_t k(int64_t step) const { return (step * H + head) * K; }
  int64_t v(int64_t step) const { return (step * H + head) * V; }
  int64_t beta(int64_t step) const { return step * H + head; }
  int64_t decay(int64_t token) const { return token * H + head; }
  int64_t state(int64_t index) const { return (index * H + head) * K * V; }

  const int64_t H, K, V, n, head;
};

template <typename T>
void ForwardTile(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, T* o, T* final_state,
                 const DeltaRuleSaved<T>& saved, int64_t sequence, int64_t head, int64_t first_block_state,
                 int64_t column, T* HWY_RESTRICT S) {
  const HeadRows<T> at(shape, head);
  const int64_t K = at.K, V = at.V, n = at.n;
  const int64_t columns = std::min<int64_t>(kTile<T>, V - column);
  const int64_t begin = shape.cu_seqlens[sequence], end = shape.cu_seqlens[sequence + 1];
  const int64_t block = DeltaRuleBlockTokens(n);
  HWY_ALIGN T w[kTile<T>] = {}, p[kTile<T>] = {}, read[kTile<T>] = {};

  // Tile <-> rows of a state [K, V] in memory.
  const auto load = [&](const T* state) {
    for (int64_t i = 0; i < K; ++i) std::copy_n(state + i * V + column, columns, S + i * kTile<T>);
  };
  const auto store = [&](T* state) {
    for (int64_t i = 0; i < K; ++i) std::copy_n(S + i * kTile<T>, columns, state + i * V + column);
  };

  std::fill_n(S, K * kTile<T>, T{0});
  if (in.initial_state) {
    load(in.initial_state + at.state(sequence));
    for (int64_t i = 0; begin < end && i < K; ++i) {  // p = S^T k of the first step
      const T ki = in.k[at.k(begin * n) + i];
      for (int64_t c = 0; c < columns; ++c) p[c] += ki * S[i * kTile<T> + c];
    }
  }

  for (int64_t token = begin; token < end; ++token) {
    if (saved.block_states && token > begin && (token - begin) % block == 0) {
      store(saved.block_states + at.state(first_block_state + (token - begin) / block - 1));
    }
    const T* q = in.q + at.q(token);
    for (int64_t j = 0; j < n; ++j) {
      const int64_t step = token * n + j;
      const bool last = j == n - 1;
      const bool has_decay = in.decay && j == 0;
      const T decay = has_decay ? in.decay[at.decay(token)] : T{1};
      const T beta = in.beta[at.beta(step)];
      const T* v = in.v + at.v(step) + column;
      for (int64_t c = 0; c < columns; ++c) {
        const T error = v[c] - decay * p[c];
        w[c] = beta * error;
        if (saved.errors) saved.errors[at.v(step) + column + c] = error;
      }
      const T* k = in.k + at.k(step);
      const T* k_next = last && token + 1 == end ? k : in.k + at.k(step + 1);
      if (has_decay) {
        last ? Sweep<true, true>(K, decay, k, q, k_next, w, S, read, p)
             : Sweep<true, false>(K, decay, k, q, k_next, w, S, read, p);
      } else {
        last ? Sweep<false, true>(K, decay, k, q, k_next, w, S, read, p)
             : Sweep<false, false>(K, decay, k, q, k_next, w, S, read, p);
      }
    }
    T* out = o + at.o(token) + column;
    for (int64_t c = 0; c < columns; ++c) out[c] = in.scale * read[c];
  }
  if (final_state) store(final_state + at.state(sequence));
}

template <typename T>
void Forward(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, T* o, T* final_state,
             const DeltaRuleSaved<T>& saved, int64_t sequence, int64_t head, int64_t first_block_state) {
  auto tile = hwy::AllocateAligned<T>(shape.key_width * kTile<T>);
  for (int64_t column = 0; column < shape.value_width; column += kTile<T>) {
    ForwardTile(shape, in, o, final_state, saved, sequence, head, first_block_state, column, tile.get());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
