#include "lrnn/kernels/block_diagonal.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "lrnn/kernels/parallel_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/block_diagonal.cc"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector of columns holds whole blocks; element i of each block goes to all places of that block in one permutation.
// So y = sum_i W_i x_i, with W_i the weights of input i for each output: [size, width].
template <typename T>
class Blocks {
 public:
  explicit Blocks(const BlockDiagonalShape& shape) : size_(shape.size), width_(shape.width()) {
    const int64_t lanes = Lanes();
    // Columns that no vector of whole blocks covers are left to scalars.
    whole_ = lanes % size_ == 0 ? width_ / lanes * lanes : 0;
    if (whole_ == 0) return;
    indices_ = hwy::AllocateAligned<Index>(size_ * lanes);
    for (int64_t i = 0; i < size_; ++i) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        indices_[i * lanes + lane] = static_cast<Index>(lane / size_ * size_ + i);
      }
    }
  }

  // y <- sum_i W_i x_i for rows of x, W: [size, width].
  void Multiply(int64_t rows, const T* HWY_RESTRICT x, const T* HWY_RESTRICT W, T* HWY_RESTRICT y) const {
    size_ == 4 ? Multiply(std::integral_constant<int, 4>(), rows, x, W, y)
               : Multiply(static_cast<int>(size_), rows, x, W, y);
  }

  // sums_i <- sums_i + dy x_i over the rows, sums: [size, width].
  void AddOuter(int64_t rows, const T* HWY_RESTRICT x, const T* HWY_RESTRICT dy, T* HWY_RESTRICT sums) const {
    size_ == 4 ? AddOuter(std::integral_constant<int, 4>(), rows, x, dy, sums)
               : AddOuter(static_cast<int>(size_), rows, x, dy, sums);
  }

 private:
  using D = hn::ScalableTag<T>;
  using Index = hwy::MakeSigned<T>;
  using Vector = hn::Vec<D>;

  static int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(D())); }

  HWY_INLINE Vector InBlocks(Vector x, int64_t i) const {
    return hn::TableLookupLanes(x, hn::SetTableIndices(D(), indices_.get() + i * Lanes()));
  }

  template <typename Size>
  HWY_INLINE void Multiply(Size any_size, int64_t rows, const T* HWY_RESTRICT x, const T* HWY_RESTRICT W,
                           T* HWY_RESTRICT y) const {
    const D d;
    const int size = any_size;
    for (int64_t t = 0; t < rows; ++t, x += width_, y += width_) {
      for (int64_t c = 0; c < whole_; c += Lanes()) {
        const Vector in = hn::LoadU(d, x + c);
        Vector sum = hn::Mul(hn::LoadU(d, W + c), InBlocks(in, 0));
        for (int i = 1; i < size; ++i) sum = hn::MulAdd(hn::LoadU(d, W + i * width_ + c), InBlocks(in, i), sum);
        hn::StoreU(sum, d, y + c);
      }
      for (int64_t c = whole_; c < width_; ++c) {
        const T* const in = x + c / size * size;
        T sum = 0;
        for (int i = 0; i < size; ++i) sum += W[i * width_ + c] * in[i];
        y[c] = sum;
      }
    }
  }

  template <typename Size>
  HWY_INLINE void AddOuter(Size any_size, int64_t rows, const T* HWY_RESTRICT x, const T* HWY_RESTRICT dy,
                           T* HWY_RESTRICT sums) const {
    const D d;
    const int size = any_size;
    for (int64_t c = 0; c < whole_; c += Lanes()) {
      for (int i = 0; i < size; ++i) {
        T* const at = sums + i * width_ + c;
        Vector sum = hn::LoadU(d, at);
        for (int64_t t = 0; t < rows; ++t) {
          const Vector in = InBlocks(hn::LoadU(d, x + t * width_ + c), i);
          sum = hn::MulAdd(hn::LoadU(d, dy + t * width_ + c), in, sum);
        }
        hn::StoreU(sum, d, at);
      }
    }
    for (int64_t c = whole_; c < width_; ++c) {
      const T* const in = x + c / size * size;
      for (int i = 0; i < size; ++i) {
        for (int64_t t = 0; t < rows; ++t) sums[i * width_ + c] += dy[t * width_ + c] * in[t * width_ + i];
      }
    }
  }

  int64_t size_, width_;
  int64_t whole_;                               // columns in vectors
  hwy::AlignedFreeUniquePtr<Index[]> indices_;  // [size, lanes]
};

template <typename T>
void Multiply(const BlockDiagonalShape& shape, int64_t rows, const T* x, const T* W, T* y) {
  Blocks<T>(shape).Multiply(rows, x, W, y);
}

// A few rows stay in the first-level cache for both gradients; a wide one is read in step with its neighbours.
template <typename T>
void Backward(const BlockDiagonalShape& shape, int64_t rows, const T* x, const T* W, const T* dy, T* dx, T* sums) {
  constexpr int64_t kRows = 8;
  const Blocks<T> blocks(shape);
  const int64_t width = shape.width();
  for (int64_t t = 0; t < rows; t += kRows) {
    const int64_t count = std::min(kRows, rows - t), at = t * width;
    if (dx) blocks.Multiply(count, dy + at, W, dx + at);
    blocks.AddOuter(count, x + at, dy + at, sums);
  }
}

void MultiplyFloat(const BlockDiagonalShape& shape, int64_t rows, const float* x, const float* W, float* y) {
  Multiply(shape, rows, x, W, y);
}
void MultiplyDouble(const BlockDiagonalShape& shape, int64_t rows, const double* x, const double* W, double* y) {
  Multiply(shape, rows, x, W, y);
}
void BackwardFloat(const BlockDiagonalShape& shape, int64_t rows, const float* x, const float* W, const float* dy,
                   float* dx, float* sums) {
  Backward(shape, rows, x, W, dy, dx, sums);
}
void BackwardDouble(const BlockDiagonalShape& shape, int64_t rows, const double* x, const double* W, const double* dy,
                    double* dx, double* sums) {
  Backward(shape, rows, x, W, dy, dx, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(MultiplyFloat);
HWY_EXPORT(MultiplyDouble);
HWY_EXPORT(BackwardFloat);
HWY_EXPORT(BackwardDouble);

namespace {

// Calls body(tile, first row, rows). The tiles do not depend on the threads: sums over them are the same for any
// number.
constexpr int64_t kTile = 512;
int64_t TilesOf(const BlockDiagonalShape& shape) { return (shape.rows + kTile - 1) / kTile; }

template <typename Body>
void ForTiles(const BlockDiagonalShape& shape, int threads, const Body& body) {
  ParallelTasks(TilesOf(shape), threads,
                [&](int64_t tile) { body(tile, tile * kTile, std::min(kTile, shape.rows - tile * kTile)); });
}

// Calls body(position in W, position in [size, width] where the weights of an input stand together) for every weight.
// With kTransposed it is those of an output that do.
template <bool kTransposed, typename Body>
void ForWeights(const BlockDiagonalShape& shape, const Body& body) {
  const int64_t size = shape.size;
  for (int64_t b = 0, at = 0; b < shape.blocks; ++b) {
    for (int64_t out = 0; out < size; ++out) {
      for (int64_t in = 0; in < size; ++in, ++at) {
        const int64_t row = kTransposed ? out : in, column = kTransposed ? in : out;
        body(at, row * shape.width() + b * size + column);
      }
    }
  }
}

template <bool kTransposed, typename T>
std::vector<T> ByRow(const BlockDiagonalShape& shape, const T* W) {
  std::vector<T> rows(shape.width() * shape.size);
  ForWeights<kTransposed>(shape, [&](int64_t from, int64_t to) { rows[to] = W[from]; });
  return rows;
}

template <typename T, typename Rows>
void Run(const BlockDiagonalShape& shape, const T* x, const T* W, T* y, int threads, Rows of_rows) {
  const std::vector<T> by_input = ByRow<false>(shape, W);
  ForTiles(shape, threads, [&](int64_t /*tile*/, int64_t first, int64_t rows) {
    of_rows(shape, rows, x + first * shape.width(), by_input.data(), y + first * shape.width());
  });
}

template <typename T, typename Rows>
void RunBackward(const BlockDiagonalShape& shape, const T* x, const T* W, const T* dy, T* dx, T* dW, int threads,
                 Rows of_rows) {
  const int64_t weights = shape.width() * shape.size, tiles = TilesOf(shape);
  const std::vector<T> by_output = ByRow<true>(shape, W);
  std::vector<T> sums(tiles * weights);  // [tiles, size, width]
  ForTiles(shape, threads, [&](int64_t tile, int64_t first, int64_t rows) {
    const int64_t at = first * shape.width();
    of_rows(shape, rows, x + at, by_output.data(), dy + at, dx ? dx + at : nullptr, sums.data() + tile * weights);
  });
  ForWeights<false>(shape, [&](int64_t to, int64_t from) {
    T sum = 0;
    for (int64_t tile = 0; tile < tiles; ++tile) sum += sums[tile * weights + from];
    dW[to] = sum;
  });
}

}  // namespace

void BlockDiagonal(const BlockDiagonalShape& shape, const float* x, const float* W, float* y, int threads) {
  Run(shape, x, W, y, threads, HWY_DYNAMIC_DISPATCH(MultiplyFloat));
}
void BlockDiagonal(const BlockDiagonalShape& shape, const double* x, const double* W, double* y, int threads) {
  Run(shape, x, W, y, threads, HWY_DYNAMIC_DISPATCH(MultiplyDouble));
}
void BlockDiagonalBackward(const BlockDiagonalShape& shape, const float* x, const float* W, const float* dy, float* dx,
                           float* dW, int threads) {
  RunBackward(shape, x, W, dy, dx, dW, threads, HWY_DYNAMIC_DISPATCH(BackwardFloat));
}
void BlockDiagonalBackward(const BlockDiagonalShape& shape, const double* x, const double* W, const double* dy,
                           double* dx, double* dW, int threads) {
  RunBackward(shape, x, W, dy, dx, dW, threads, HWY_DYNAMIC_DISPATCH(BackwardDouble));
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
