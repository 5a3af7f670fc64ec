// One head of one sequence is a task. Its keys (for the gradients its values too) are first copied to blocks of 64,
// each transposed, so that scores of 32 queries and 64 keys are one product of small matrices.
#include "lrnn/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/kernels/parallel_tasks.h"
#include "lrnn/kernels/sequence_groups.h"

#ifndef LRNN_KERNELS_ATTENTION_HEAD
#define LRNN_KERNELS_ATTENTION_HEAD
namespace lrnn::kernels {

// One head of one sequence.
template <typename T>
struct AttentionHead {
  int64_t queries;
  int64_t keys;
  int64_t K;
  int64_t V;
  AttentionInputs<T> in;  // at the head's first query and key
  int64_t o_stride;       // from a query's row of o and d_o to the next; the same from a key's to the next of d_v
  int64_t sum_stride;     // of log_sums
  int64_t d_stride;       // of the gradients of q and k

  // How many of the keys query i sees.
  int64_t Seen(int64_t i) const { return keys - queries + i + 1; }
};

inline constexpr int64_t kQueries = 32;  // of a block
inline constexpr int64_t kKeys = 64;     // whole vectors of any target

}  // namespace lrnn::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/attention.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hwy/contrib/dot/dot-inl.h"
#include "lrnn/kernels/padded_rows-inl.h"
#include "lrnn/kernels/sigmoid-inl.h"
#include "lrnn/kernels/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// rows [count, width] -> blocks of kKeys rows, each transposed: [width, kKeys]. The last block's missing rows stay 0.
template <typename T>
void TransposeBlocks(int64_t count, int64_t width, const T* from, int64_t stride, T* to) {
  for (int64_t row = 0; row < count; ++row) {
    T* block = to + row / kKeys * kKeys * width + row % kKeys;
    for (int64_t i = 0; i < width; ++i) block[i * kKeys] = from[row * stride + i];
  }
}

// The first `seen` of a row's kKeys scores become scale times themselves, the others -inf.
template <typename T>
HWY_INLINE void ScaleAndMask(T* scores, int64_t seen, T scale) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < kKeys; c += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Mul(hn::Set(d, scale), hn::Load(d, scores + c)), d, scores + c);
  }
  for (int64_t c = std::max<int64_t>(0, seen); c < kKeys; ++c) scores[c] = -std::numeric_limits<T>::infinity();
}

// Scores -> exp(score - m), with m the greatest score of this row so far. Gives what the sums so far are to be
// multiplied by; `sum` has been.
template <typename T>
HWY_INLINE T ExpRow(T* scores, T& m, T& sum) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto greatest = hn::Load(d, scores);
  for (int64_t c = lanes; c < kKeys; c += lanes) greatest = hn::Max(greatest, hn::Load(d, scores + c));
  const T after = std::max(m, hn::GetLane(hn::MaxOfLanes(d, greatest)));
  const T shrink = static_cast<T>(std::exp(m - after));  // 0 at first, where m is -inf
  auto total = hn::Zero(d);
  for (int64_t c = 0; c < kKeys; c += lanes) {
    const auto p = ExpNegAbs(d, hn::Sub(hn::Load(d, scores + c), hn::Set(d, after)));
    hn::Store(p, d, scores + c);
    total = hn::Add(total, p);
  }
  sum = shrink * sum + hn::GetLane(hn::SumOfLanes(d, total));
  m = after;
  return shrink;
}

// A step of a stream: the copies that serve many queries would cost more than the one.
template <typename T>
void AttentionOfOneQuery(const AttentionHead<T>& head, T* o, T* log_sums) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), V = head.V;
  const int64_t padded = (head.keys + kKeys - 1) / kKeys * kKeys;
  const auto memory = AlignedZeros<T>(padded);
  T* const p = memory.get();
  for (int64_t j = 0; j < head.keys; ++j) {
    p[j] = hn::Dot::Compute<0>(d, head.in.q, head.in.k + j * head.in.k_stride, head.K);
  }
  for (int64_t key = 0; key < padded; key += kKeys) ScaleAndMask(p + key, head.keys - key, head.in.scale);
  const T m = *std::max_element(p, p + head.keys);
  auto total = hn::Zero(d);
  for (int64_t j = 0; j < padded; j += lanes) {
    const auto e = ExpNegAbs(d, hn::Sub(hn::Load(d, p + j), hn::Set(d, m)));
    hn::Store(e, d, p + j);
    total = hn::Add(total, e);
  }
  const T sum = hn::GetLane(hn::SumOfLanes(d, total));
  std::fill_n(o, V, T{0});
  for (int64_t j = 0; j < head.keys; ++j) {
    const T weight = p[j] / sum;
    const T* const v = head.in.v + j * head.in.v_stride;
    int64_t i = 0;
    for (; i + lanes <= V; i += lanes) {
      hn::StoreU(hn::MulAdd(hn::Set(d, weight), hn::LoadU(d, v + i), hn::LoadU(d, o + i)), d, o + i);
    }
    for (; i < V; ++i) o[i] += weight * v[i];
  }
  if (log_sums != nullptr) *log_sums = m + std::log(sum);
}

template <typename T>
void AttentionForwardHead(const AttentionHead<T>& head, T* o, T* log_sums) {
  if (head.queries == 1) return AttentionOfOneQuery(head, o, log_sums);
  const int64_t width = PaddedWidth<T>(head.V), blocks = (head.keys + kKeys - 1) / kKeys;
  const auto memory = AlignedZeros<T>(blocks * kKeys * (head.K + width) + kQueries * (kKeys + width));
  T* const keys = memory.get();                      // blocks of [K, kKeys]
  T* const values = keys + blocks * kKeys * head.K;  // [keys, V]
  T* const p = values + blocks * kKeys * width;      // [kQueries, kKeys]
  T* const sums = p + kQueries * kKeys;              // [kQueries, V]
  TransposeBlocks(head.keys, head.K, head.in.k, head.in.k_stride, keys);
  CopyRows(head.keys, head.V, head.in.v, head.in.v_stride, values, width);

  T m[kQueries], sum[kQueries], shrink[kQueries];
  for (int64_t first = 0; first < head.queries; first += kQueries) {
    const int64_t rows = std::min(kQueries, head.queries - first);
    std::fill_n(m, rows, -std::numeric_limits<T>::infinity());
    std::fill_n(sum, rows, T{0});
    std::fill_n(sums, rows * width, T{0});
    for (int64_t key = 0; key < head.Seen(first + rows - 1); key += kKeys) {
      Product<ProductStart::kZero, false>(ProductPart::kFull, rows, kKeys, head.K, head.in.q + first * head.in.q_stride,
                                          head.in.q_stride, keys + key * head.K, kKeys, p, kKeys);
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t seen = std::min(kKeys, head.Seen(first + r) - key);
        ScaleAndMask(p + r * kKeys, seen, head.in.scale);
        shrink[r] = ExpRow(p + r * kKeys, m[r], sum[r]);
      }
      Product<ProductStart::kScaleRows, false>(ProductPart::kFull, rows, width, std::min(kKeys, head.keys - key), p,
                                               kKeys, values + key * width, width, sums, width, shrink);
    }
    for (int64_t r = 0; r < rows; ++r) {
      T* const out = o + (first + r) * head.o_stride;
      for (int64_t i = 0; i < head.V; ++i) out[i] = sums[r * width + i] / sum[r];
      if (log_sums != nullptr) log_sums[(first + r) * head.sum_stride] = m[r] + std::log(sum[r]);
    }
  }
}

template <typename T>
void AttentionBackwardHead(const AttentionHead<T>& head, const T* o, const T* log_sums, const T* d_o, T* d_q, T* d_k,
                           T* d_v) {
  const hn::ScalableTag<T> d;
  const int64_t K = head.K, V = head.V, k_width = PaddedWidth<T>(K), v_width = PaddedWidth<T>(V);
  const int64_t blocks = (head.keys + kKeys - 1) / kKeys, keys_padded = blocks * kKeys;
  const auto memory = AlignedZeros<T>(keys_padded * (K + V + k_width) + head.queries * (2 * k_width + v_width) +
                                      kKeys * (k_width + v_width) + 2 * kQueries * kKeys);
  T* at = memory.get();
  const auto take = [&](int64_t count) {
    T* const begin = at;
    at += count;
    return begin;
  };
  T* const keys = take(keys_padded * k_width);  // [keys, K]
  T* const queries = take(head.queries * k_width);
  T* const d_out = take(head.queries * v_width);
  T* const d_queries = take(head.queries * k_width);
  T* const d_keys = take(kKeys * k_width);  // of one block
  T* const d_values = take(kKeys * v_width);
  T* const p = take(kQueries * kKeys);  // probabilities
  T* const g = take(kQueries * kKeys);  // their gradients, then those of the scores
  T* const keys_transposed = take(keys_padded * K);
  T* const values_transposed = take(keys_padded * V);
  CopyRows(head.keys, K, head.in.k, head.in.k_stride, keys, k_width);
  CopyRows(head.queries, K, head.in.q, head.in.q_stride, queries, k_width);
  CopyRows(head.queries, V, d_o, head.o_stride, d_out, v_width);
  TransposeBlocks(head.keys, K, head.in.k, head.in.k_stride, keys_transposed);
  TransposeBlocks(head.keys, V, head.in.v, head.in.v_stride, values_transposed);
  std::vector<T> delta(head.queries);  // o . d_o = sum over keys of p d_p
  for (int64_t i = 0; i < head.queries; ++i) {
    for (int64_t j = 0; j < V; ++j) delta[i] += o[i * head.o_stride + j] * d_o[i * head.o_stride + j];
  }

  for (int64_t key = 0; key < head.keys; key += kKeys) {
    const int64_t columns = std::min(kKeys, head.keys - key);
    std::fill_n(d_keys, kKeys * k_width, T{0});
    std::fill_n(d_values, kKeys * v_width, T{0});
    const int64_t first_that_sees = std::max<int64_t>(0, key - (head.keys - head.queries));
    for (int64_t first = first_that_sees / kQueries * kQueries; first < head.queries; first += kQueries) {
      const int64_t rows = std::min(kQueries, head.queries - first);
      Product<ProductStart::kZero, false>(ProductPart::kFull, rows, kKeys, K, queries + first * k_width, k_width,
                                          keys_transposed + key * K, kKeys, p, kKeys);
      Product<ProductStart::kZero, false>(ProductPart::kFull, rows, kKeys, V, d_out + first * v_width, v_width,
                                          values_transposed + key * V, kKeys, g, kKeys);
      for (int64_t r = 0; r < rows; ++r) {
        ScaleAndMask(p + r * kKeys, std::min(kKeys, head.Seen(first + r) - key), head.in.scale);
        const auto log_sum = hn::Set(d, log_sums[(first + r) * head.sum_stride]);
        const auto mean = hn::Set(d, delta[first + r]), scale = hn::Set(d, head.in.scale);
        for (int64_t c = r * kKeys; c < (r + 1) * kKeys; c += static_cast<int64_t>(hn::Lanes(d))) {
          const auto probability = ExpNegAbs(d, hn::Sub(hn::Load(d, p + c), log_sum));
          hn::Store(probability, d, p + c);
          hn::Store(hn::Mul(hn::Mul(probability, scale), hn::Sub(hn::Load(d, g + c), mean)), d, g + c);
        }
      }
      Product<ProductStart::kAdd, true>(ProductPart::kFull, columns, v_width, rows, p, kKeys, d_out + first * v_width,
                                        v_width, d_values, v_width);
      Product<ProductStart::kAdd, true>(ProductPart::kFull, columns, k_width, rows, g, kKeys, queries + first * k_width,
                                        k_width, d_keys, k_width);
      Product<ProductStart::kAdd, false>(ProductPart::kFull, rows, k_width, columns, g, kKeys, keys + key * k_width,
                                         k_width, d_queries + first * k_width, k_width);
    }
    CopyRows(columns, K, d_keys, k_width, d_k + key * head.d_stride, head.d_stride);
    CopyRows(columns, V, d_values, v_width, d_v + key * head.o_stride, head.o_stride);
  }
  CopyRows(head.queries, K, d_queries, k_width, d_q, head.d_stride);
}

void AttentionForwardFloat(const AttentionHead<float>& head, float* o, float* log_sums) {
  AttentionForwardHead(head, o, log_sums);
}
void AttentionForwardDouble(const AttentionHead<double>& head, double* o, double* log_sums) {
  AttentionForwardHead(head, o, log_sums);
}
void AttentionBackwardFloat(const AttentionHead<float>& head, const float* o, const float* log_sums, const float* d_o,
                            float* d_q, float* d_k, float* d_v) {
  AttentionBackwardHead(head, o, log_sums, d_o, d_q, d_k, d_v);
}
void AttentionBackwardDouble(const AttentionHead<double>& head, const double* o, const double* log_sums,
                             const double* d_o, double* d_q, double* d_k, double* d_v) {
  AttentionBackwardHead(head, o, log_sums, d_o, d_q, d_k, d_v);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(AttentionForwardFloat);
HWY_EXPORT(AttentionForwardDouble);
HWY_EXPORT(AttentionBackwardFloat);
HWY_EXPORT(AttentionBackwardDouble);

namespace {

// Calls body(head, its index, first query, first key) for all heads of all sequences.
template <typename T, typename Body>
void ForHeads(const AttentionShape& shape, const AttentionInputs<T>& in, int threads, const Body& body) {
  const auto groups = GroupSequences(shape.cu_keys, shape.sequences, kKeys);
  const int64_t H = shape.heads, K = shape.key_width, V = shape.value_width;
  ParallelTasks(static_cast<int64_t>(groups.size()) * H, threads, [&](int64_t task) {
    const int64_t h = task % H;
    for (int64_t n = groups[task / H].begin; n < groups[task / H].end; ++n) {
      const int64_t query = shape.cu_queries[n], key = shape.cu_keys[n];
      body(AttentionHead<T>{.queries = shape.cu_queries[n + 1] - query,
                            .keys = shape.cu_keys[n + 1] - key,
                            .K = K,
                            .V = V,
                            .in = {in.q + query * in.q_stride + h * K, in.q_stride, in.k + key * in.k_stride + h * K,
                                   in.k_stride, in.v + key * in.v_stride + h * V, in.v_stride, in.scale},
                            .o_stride = H * V,
                            .sum_stride = H,
                            .d_stride = H * K},
           h, query, key);
    }
  });
}

template <typename T, typename Kernel>
void RunForward(const Kernel& kernel, const AttentionShape& shape, const AttentionInputs<T>& in, T* o, T* log_sums,
                int threads) {
  const int64_t H = shape.heads, V = shape.value_width;
  ForHeads(shape, in, threads, [&](const AttentionHead<T>& head, int64_t h, int64_t query, int64_t /*key*/) {
    kernel(head, o + (query * H + h) * V, log_sums != nullptr ? log_sums + query * H + h : nullptr);
  });
}

template <typename T, typename Kernel>
void RunBackward(const Kernel& kernel, const AttentionShape& shape, const AttentionInputs<T>& in, const T* o,
                 const T* log_sums, const T* d_o, const AttentionGradients<T>& gradients, int threads) {
  const int64_t H = shape.heads, K = shape.key_width, V = shape.value_width;
  ForHeads(shape, in, threads, [&](const AttentionHead<T>& head, int64_t h, int64_t query, int64_t key) {
    kernel(head, o + (query * H + h) * V, log_sums + query * H + h, d_o + (query * H + h) * V,
           gradients.q + (query * H + h) * K, gradients.k + (key * H + h) * K, gradients.v + (key * H + h) * V);
  });
}

}  // namespace

void Attention(const AttentionShape& shape, const AttentionInputs<float>& in, float* o, float* log_sums, int threads) {
  RunForward(HWY_DYNAMIC_DISPATCH(AttentionForwardFloat), shape, in, o, log_sums, threads);
}

void Attention(const AttentionShape& shape, const AttentionInputs<double>& in, double* o, double* log_sums,
               int threads) {
  RunForward(HWY_DYNAMIC_DISPATCH(AttentionForwardDouble), shape, in, o, log_sums, threads);
}

void AttentionBackward(const AttentionShape& shape, const AttentionInputs<float>& in, const float* o,
                       const float* log_sums, const float* d_o, const AttentionGradients<float>& gradients,
                       int threads) {
  RunBackward(HWY_DYNAMIC_DISPATCH(AttentionBackwardFloat), shape, in, o, log_sums, d_o, gradients, threads);
}

void AttentionBackward(const AttentionShape& shape, const AttentionInputs<double>& in, const double* o,
                       const double* log_sums, const double* d_o, const AttentionGradients<double>& gradients,
                       int threads) {
  RunBackward(HWY_DYNAMIC_DISPATCH(AttentionBackwardDouble), shape, in, o, log_sums, d_o, gradients, threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
