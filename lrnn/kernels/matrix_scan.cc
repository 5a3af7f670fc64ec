// A step is a product of small matrices. Its right factor is copied to rows of whole vectors; the left one is read
// where it lies, element by element. The transitions' gradients are outer products of what the walk back through time
// leaves in d_B, and wait until it has ended: then the tokens of one matrix can be summed without a race.
#include "lrnn/kernels/matrix_scan.h"

#include <algorithm>
#include <vector>

#include "lrnn/kernels/parallel_tasks.h"
#include "lrnn/kernels/sequence_groups.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/matrix_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/padded_rows-inl.h"
#include "lrnn/kernels/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// One sequence, its tokens begin .. end-1.
template <typename T>
void MatrixScanSequence(const MatrixScanInputs<T>& in, int64_t n, int64_t m, int64_t begin, int64_t end,
                        const T* initial, T* S) {
  const int64_t width = PaddedWidth<T>(m);
  const auto memory = AlignedZeros<T>(2 * n * width);
  T* before = memory.get();
  T* after = before + n * width;
  if (initial != nullptr) CopyRows(n, m, initial, m, before, width);
  for (int64_t t = begin; t < end; ++t) {
    const T* A = in.A + (in.which != nullptr ? in.which[t] : t) * n * n;
    if (in.B != nullptr) {
      CopyRows(n, m, in.B + t * n * m, m, after, width);
      Product<ProductStart::kAdd, false>(ProductPart::kFull, n, width, n, A, n, before, width, after, width);
    } else {
      Product<ProductStart::kZero, false>(ProductPart::kFull, n, width, n, A, n, before, width, after, width);
    }
    CopyRows(n, m, after, width, S + t * n * m, m);
    std::swap(before, after);
  }
}

// d_B and d_initial of one sequence.
template <typename T>
void MatrixScanBackwardSequence(const MatrixScanInputs<T>& in, int64_t n, int64_t m, int64_t begin, int64_t end,
                                const T* d_S, T* d_B, T* d_initial) {
  const int64_t width = PaddedWidth<T>(m);
  const auto memory = AlignedZeros<T>(2 * n * width);
  T* later = memory.get();  // A_{t+1}^T d_B_{t+1} comes from here
  T* now = later + n * width;
  const auto transition = [&](int64_t t) { return in.A + (in.which != nullptr ? in.which[t] : t) * n * n; };
  for (int64_t t = end - 1; t >= begin; --t) {
    CopyRows(n, m, d_S + t * n * m, m, now, width);
    if (t + 1 < end) {
      Product<ProductStart::kAdd, true>(ProductPart::kFull, n, width, n, transition(t + 1), n, later, width, now,
                                        width);
    }
    CopyRows(n, m, now, width, d_B + t * n * m, m);
    std::swap(later, now);
  }
  if (d_initial == nullptr) return;
  if (begin < end) {
    Product<ProductStart::kZero, true>(ProductPart::kFull, n, width, n, transition(begin), n, later, width, now, width);
    CopyRows(n, m, now, width, d_initial, m);
  } else {
    std::fill_n(d_initial, n * m, T{0});
  }
}

// d_A = sum over the tokens of d_B_t before_t^T or, `each`, one d_A after the other. before_t: [n, m], null for 0.
template <typename T>
void MatrixScanOuterProducts(int64_t n, int64_t m, bool each, const int64_t* tokens, int64_t count,
                             const T* const* before, const T* d_B, T* d_A) {
  const int64_t width = PaddedWidth<T>(m), columns = PaddedWidth<T>(n);
  const auto memory = AlignedZeros<T>(columns * width + width * columns + n * columns);
  T* const padded = memory.get();                  // before_t: [n, m]
  T* const transposed = padded + columns * width;  // [m, n]
  T* const sum = transposed + width * columns;     // d_A: [n, n]
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = tokens[i];
    if (before[t] != nullptr) {
      CopyRows(n, m, before[t], m, padded, width);
      Transpose(n, m, padded, width, transposed, columns);
      Product<ProductStart::kAdd, false>(ProductPart::kFull, n, columns, m, d_B + t * n * m, m, transposed, columns,
                                         sum, columns);
    }
    if (each) {
      CopyRows(n, n, sum, columns, d_A + i * n * n, n);
      std::fill_n(sum, n * columns, T{0});
    }
  }
  if (!each) CopyRows(n, n, sum, columns, d_A, n);
}

void MatrixScanFloat(const MatrixScanInputs<float>& in, int64_t n, int64_t m, int64_t begin, int64_t end,
                     const float* initial, float* S) {
  MatrixScanSequence(in, n, m, begin, end, initial, S);
}
void MatrixScanDouble(const MatrixScanInputs<double>& in, int64_t n, int64_t m, int64_t begin, int64_t end,
                      const double* initial, double* S) {
  MatrixScanSequence(in, n, m, begin, end, initial, S);
}
void MatrixScanBackwardFloat(const MatrixScanInputs<float>& in, int64_t n, int64_t m, int64_t begin, int64_t end,
                             const float* d_S, float* d_B, float* d_initial) {
  MatrixScanBackwardSequence(in, n, m, begin, end, d_S, d_B, d_initial);
}
void MatrixScanBackwardDouble(const MatrixScanInputs<double>& in, int64_t n, int64_t m, int64_t begin, int64_t end,
                              const double* d_S, double* d_B, double* d_initial) {
  MatrixScanBackwardSequence(in, n, m, begin, end, d_S, d_B, d_initial);
}
void MatrixScanOuterFloat(int64_t n, int64_t m, bool each, const int64_t* tokens, int64_t count,
                          const float* const* before, const float* d_B, float* d_A) {
  MatrixScanOuterProducts(n, m, each, tokens, count, before, d_B, d_A);
}
void MatrixScanOuterDouble(int64_t n, int64_t m, bool each, const int64_t* tokens, int64_t count,
                           const double* const* before, const double* d_B, double* d_A) {
  MatrixScanOuterProducts(n, m, each, tokens, count, before, d_B, d_A);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(MatrixScanFloat);
HWY_EXPORT(MatrixScanDouble);
HWY_EXPORT(MatrixScanBackwardFloat);
HWY_EXPORT(MatrixScanBackwardDouble);
HWY_EXPORT(MatrixScanOuterFloat);
HWY_EXPORT(MatrixScanOuterDouble);

namespace {

// Calls body(sequence, its first token, the one after its last) for all sequences; a task is at least some hundred
// thousand operations.
template <typename Body>
void ForSequences(const MatrixScanShape& shape, int threads, const Body& body) {
  const int64_t work = shape.rows * shape.rows * std::max<int64_t>(8, shape.columns);
  const auto groups =
      GroupSequences(shape.cu_seqlens, shape.sequences, std::max<int64_t>(1, 200000 / std::max<int64_t>(1, work)));
  ParallelTasks(static_cast<int64_t>(groups.size()), threads, [&](int64_t g) {
    for (int64_t i = groups[g].begin; i < groups[g].end; ++i) body(i, shape.cu_seqlens[i], shape.cu_seqlens[i + 1]);
  });
}

// Tokens whose outer products one task computes, to one place.
constexpr int64_t kTokensOfATask = 256;

template <typename T, typename Kernel>
void OuterProductsOfTokens(const Kernel& kernel, const MatrixScanShape& shape, const std::vector<const T*>& before,
                           const T* d_B, T* d_A, int threads) {
  const int64_t n = shape.rows, m = shape.columns, tokens = static_cast<int64_t>(before.size());
  std::vector<int64_t> order(tokens);
  for (int64_t t = 0; t < tokens; ++t) order[t] = t;
  ParallelTasks((tokens + kTokensOfATask - 1) / kTokensOfATask, threads, [&](int64_t task) {
    const int64_t t = task * kTokensOfATask;
    kernel(n, m, /*each=*/true, order.data() + t, std::min(kTokensOfATask, tokens - t), before.data(), d_B,
           d_A + t * n * n);
  });
}

// Tokens are sorted by their matrix. Where one has many, parts of them are summed apart and added in order.
template <typename T, typename Kernel>
void OuterProductsOfMatrices(const Kernel& kernel, const MatrixScanShape& shape, const int64_t* which, int64_t matrices,
                             const std::vector<const T*>& before, const T* d_B, T* d_A, int threads) {
  const int64_t n = shape.rows, m = shape.columns, tokens = static_cast<int64_t>(before.size());
  std::vector<int64_t> first(matrices + 1, 0), order(tokens);
  for (int64_t t = 0; t < tokens; ++t) ++first[which[t] + 1];
  for (int64_t r = 0; r < matrices; ++r) first[r + 1] += first[r];
  std::vector<int64_t> next(first.begin(), first.end() - 1);
  for (int64_t t = 0; t < tokens; ++t) order[next[which[t]]++] = t;

  struct Task {
    int64_t matrix, begin, end;
    T* sum;
  };
  std::vector<Task> tasks, parts;
  for (int64_t r = 0; r < matrices; ++r) {
    int64_t begin = first[r];
    do {
      const int64_t end = std::min(first[r + 1], begin + kTokensOfATask);
      (begin == first[r] ? tasks : parts).push_back({r, begin, end, d_A + r * n * n});
      begin = end;
    } while (begin < first[r + 1]);
  }
  std::vector<T> memory(parts.size() * n * n);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].sum = memory.data() + i * n * n;
  tasks.insert(tasks.end(), parts.begin(), parts.end());
  ParallelTasks(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i) {
    const Task& task = tasks[i];
    kernel(n, m, /*each=*/false, order.data() + task.begin, task.end - task.begin, before.data(), d_B, task.sum);
  });
  for (const Task& part : parts) {
    T* const to = d_A + part.matrix * n * n;
    for (int64_t i = 0; i < n * n; ++i) to[i] += part.sum[i];
  }
}

template <typename T, typename Kernel>
void RunForward(const Kernel& kernel, const MatrixScanShape& shape, const MatrixScanInputs<T>& in, T* S, int threads) {
  const int64_t n = shape.rows, m = shape.columns;
  ForSequences(shape, threads, [&](int64_t i, int64_t begin, int64_t end) {
    kernel(in, n, m, begin, end, in.initial_state ? in.initial_state + i * n * m : nullptr, S);
  });
}

template <typename T, typename Kernel, typename OuterKernel>
void RunBackward(const Kernel& kernel, const OuterKernel& outer, const MatrixScanShape& shape,
                 const MatrixScanInputs<T>& in, const T* S, const T* d_S, const MatrixScanGradients<T>& gradients,
                 int threads) {
  const int64_t n = shape.rows, m = shape.columns;
  std::vector<const T*> before(shape.cu_seqlens[shape.sequences]);  // the state before each token
  ForSequences(shape, threads, [&](int64_t i, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) before[t] = S + (t - 1) * n * m;
    if (begin < end) before[begin] = in.initial_state ? in.initial_state + i * n * m : nullptr;
    kernel(in, n, m, begin, end, d_S, gradients.B,
           gradients.initial_state ? gradients.initial_state + i * n * m : nullptr);
  });
  if (in.matrices > 0) {
    OuterProductsOfMatrices(outer, shape, in.which, in.matrices, before, gradients.B, gradients.A, threads);
  } else {
    OuterProductsOfTokens(outer, shape, before, gradients.B, gradients.A, threads);
  }
}

}  // namespace

void MatrixScan(const MatrixScanShape& shape, const MatrixScanInputs<float>& in, float* S, int threads) {
  RunForward(HWY_DYNAMIC_DISPATCH(MatrixScanFloat), shape, in, S, threads);
}

void MatrixScan(const MatrixScanShape& shape, const MatrixScanInputs<double>& in, double* S, int threads) {
  RunForward(HWY_DYNAMIC_DISPATCH(MatrixScanDouble), shape, in, S, threads);
}

void MatrixScanBackward(const MatrixScanShape& shape, const MatrixScanInputs<float>& in, const float* S,
                        const float* d_S, const MatrixScanGradients<float>& gradients, int threads) {
  RunBackward(HWY_DYNAMIC_DISPATCH(MatrixScanBackwardFloat), HWY_DYNAMIC_DISPATCH(MatrixScanOuterFloat), shape, in, S,
              d_S, gradients, threads);
}

void MatrixScanBackward(const MatrixScanShape& shape, const MatrixScanInputs<double>& in, const double* S,
                        const double* d_S, const MatrixScanGradients<double>& gradients, int threads) {
  RunBackward(HWY_DYNAMIC_DISPATCH(MatrixScanBackwardDouble), HWY_DYNAMIC_DISPATCH(MatrixScanOuterDouble), shape, in, S,
              d_S, gradients, threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
