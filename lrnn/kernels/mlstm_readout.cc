#include "lrnn/kernels/mlstm_readout.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/kernels/parallel_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/mlstm_readout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/columns-inl.h"
#include "lrnn/kernels/sigmoid-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// The rows of one token and head.
template <typename T>
struct HeadReadout {
  HeadReadout(const MlstmReadoutShape& shape, const MlstmReadoutInputs<T>& in, int64_t token, int64_t head)
      : K(shape.width), c(in.o + (token * shape.heads + head) * (K + 1)) {
    const T n = c[K];
    const T floor = std::exp(-in.m[token * shape.heads + head]);
    sign = std::abs(n) < floor ? T{0} : n < 0 ? T{-1} : T{1};
    scale = T{1} / (std::max(std::abs(n), floor) + T{1e-6});
    const T over_K = T{1} / static_cast<T>(K);
    mean = over_K * SumColumns<T>(K, [&](auto d, int64_t i) HWY_ATTR { return H(d, i); });
    const T variance = over_K * SumColumns<T>(K, [&](auto d, int64_t i) HWY_ATTR {
                         const auto centred = hn::Sub(H(d, i), hn::Set(d, mean));
                         return hn::Mul(centred, centred);
                       });
    r = T{1} / std::sqrt(variance + in.eps);
  }

  template <class D>
  HWY_INLINE hn::Vec<D> H(D d, int64_t i) const {
    return hn::Mul(hn::LoadU(d, c + i), hn::Set(d, scale));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> U(D d, int64_t i) const {
    return hn::Mul(hn::Sub(H(d, i), hn::Set(d, mean)), hn::Set(d, r));
  }

  const int64_t K;
  const T* const c;
  T scale;    // h = c scale
  T sign;     // d denominator / dn: 0 where exp(-m) is larger
  T mean, r;  // u = (h - mean) r
};

// u (1 + weight) + skip x
template <class D, typename T>
HWY_INLINE hn::Vec<D> BeforeGate(D d, const MlstmReadoutInputs<T>& in, hn::Vec<D> u, const T* x, int64_t unit) {
  const auto normed = hn::MulAdd(u, hn::LoadU(d, in.weight + unit), u);
  return hn::MulAdd(hn::LoadU(d, in.skip + unit), hn::LoadU(d, x + unit), normed);
}

template <typename T>
HWY_INLINE void Forward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<T>& in, int64_t begin, int64_t end,
                        T* y) {
  const int64_t H = shape.heads, K = shape.width, I = H * K;
  for (int64_t t = begin; t < end; ++t) {
    for (int64_t head = 0; head < H; ++head) {
      const HeadReadout<T> row(shape, in, t, head);
      ForColumns<T>(K, [&](auto d, int64_t i) HWY_ATTR {
        const int64_t unit = head * K + i;
        const auto gate = Silu(d, hn::LoadU(d, in.z + t * I + unit));
        hn::StoreU(hn::Mul(BeforeGate(d, in, row.U(d, i), in.x + t * I, unit), gate), d, y + t * I + unit);
      });
    }
  }
}

// With p = u (1 + weight) + skip x, g = silu(z) and v = dy g (1 + weight), the gradient of u:
//   dz = dy p silu'(z)   dx = dy g skip   dskip = sum_t dy g x   dweight = sum_t dy g u
//   dh = r (v - mean(v) - u mean(v u))    dc = dh scale    d denominator = -scale sum(dh h)
template <typename T>
HWY_INLINE void Backward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<T>& in, const T* dy, int64_t begin,
                         int64_t end, const MlstmReadoutGradients<T>& out, T* dweight, T* dskip) {
  const int64_t H = shape.heads, K = shape.width, I = H * K;
  const T over_K = T{1} / static_cast<T>(K);
  for (int64_t t = begin; t < end; ++t) {
    for (int64_t head = 0; head < H; ++head) {
      const HeadReadout<T> row(shape, in, t, head);
      T* const dc = out.o + (t * H + head) * (K + 1);  // holds v first
      ForColumns<T>(K, [&](auto d, int64_t i) HWY_ATTR {
        const int64_t unit = head * K + i, at = t * I + unit;
        const auto z = hn::LoadU(d, in.z + at), x = hn::LoadU(d, in.x + at), gradient = hn::LoadU(d, dy + at);
        const auto u = row.U(d, i);
        auto s = hn::Zero(d), one_minus_s = hn::Zero(d);
        Sigmoid(d, z, s, one_minus_s);
        const auto gate = hn::Mul(z, s), slope = hn::MulAdd(gate, one_minus_s, s);
        const auto dp = hn::Mul(gradient, gate);
        hn::StoreU(hn::Mul(hn::Mul(gradient, slope), BeforeGate(d, in, u, in.x + t * I, unit)), d, out.z + at);
        hn::StoreU(hn::Mul(dp, hn::LoadU(d, in.skip + unit)), d, out.x + at);
        hn::StoreU(hn::MulAdd(dp, x, hn::LoadU(d, dskip + unit)), d, dskip + unit);
        hn::StoreU(hn::MulAdd(dp, u, hn::LoadU(d, dweight + unit)), d, dweight + unit);
        hn::StoreU(hn::MulAdd(dp, hn::LoadU(d, in.weight + unit), dp), d, dc + i);
      });
      const T mean_v = over_K * SumColumns<T>(K, [&](auto d, int64_t i) HWY_ATTR { return hn::LoadU(d, dc + i); });
      const T mean_vu = over_K * SumColumns<T>(K, [&](auto d, int64_t i)
                                                      HWY_ATTR { return hn::Mul(hn::LoadU(d, dc + i), row.U(d, i)); });
      const T sum_dh_h = SumColumns<T>(K, [&](auto d, int64_t i) HWY_ATTR {
        const auto centred = hn::Sub(hn::LoadU(d, dc + i), hn::Set(d, mean_v));
        const auto dh = hn::Mul(hn::Set(d, row.r), hn::NegMulAdd(row.U(d, i), hn::Set(d, mean_vu), centred));
        hn::StoreU(hn::Mul(dh, hn::Set(d, row.scale)), d, dc + i);
        return hn::Mul(dh, row.H(d, i));
      });
      dc[K] = -row.sign * row.scale * sum_dh_h;
    }
  }
}

void ForwardF32(const MlstmReadoutShape& shape, const MlstmReadoutInputs<float>& in, int64_t begin, int64_t end,
                float* y) {
  Forward(shape, in, begin, end, y);
}
void ForwardF64(const MlstmReadoutShape& shape, const MlstmReadoutInputs<double>& in, int64_t begin, int64_t end,
                double* y) {
  Forward(shape, in, begin, end, y);
}
void BackwardF32(const MlstmReadoutShape& shape, const MlstmReadoutInputs<float>& in, const float* dy, int64_t begin,
                 int64_t end, const MlstmReadoutGradients<float>& out, float* dweight, float* dskip) {
  Backward(shape, in, dy, begin, end, out, dweight, dskip);
}
void BackwardF64(const MlstmReadoutShape& shape, const MlstmReadoutInputs<double>& in, const double* dy, int64_t begin,
                 int64_t end, const MlstmReadoutGradients<double>& out, double* dweight, double* dskip) {
  Backward(shape, in, dy, begin, end, out, dweight, dskip);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(ForwardF32);
HWY_EXPORT(ForwardF64);
HWY_EXPORT(BackwardF32);
HWY_EXPORT(BackwardF64);

namespace {

// Blocks of tokens of about 32K units, which depend on the shape alone, and at least 64 of them: each block has sums of
// its own of the gradients of weight and skip. body(block, first token, token after the last)
class Blocks {
 public:
  explicit Blocks(const MlstmReadoutShape& shape)
      : tokens_(shape.tokens), size_(std::max<int64_t>(64, 32768 / std::max<int64_t>(1, shape.heads * shape.width))) {}

  int64_t count() const { return (tokens_ + size_ - 1) / size_; }

  template <typename Body>
  void ForEach(int threads, const Body& body) const {
    ParallelTasks(count(), threads, [&](int64_t b) { body(b, b * size_, std::min(tokens_, (b + 1) * size_)); });
  }

 private:
  int64_t tokens_, size_;
};

template <typename T, typename Kernel>
void RunForward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<T>& in, T* y, int threads, Kernel kernel) {
  Blocks(shape).ForEach(threads, [&](int64_t, int64_t begin, int64_t end) { kernel(shape, in, begin, end, y); });
}

template <typename T, typename Kernel>
void RunBackward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<T>& in, const T* dy,
                 const MlstmReadoutGradients<T>& out, int threads, Kernel kernel) {
  const Blocks blocks(shape);
  const int64_t I = shape.heads * shape.width;
  std::vector<T> sums(blocks.count() * 2 * I);  // [blocks, 2, I]: of weight, of skip
  blocks.ForEach(threads, [&](int64_t b, int64_t begin, int64_t end) {
    kernel(shape, in, dy, begin, end, out, sums.data() + 2 * b * I, sums.data() + (2 * b + 1) * I);
  });
  std::fill_n(out.weight, I, T{0});
  std::fill_n(out.skip, I, T{0});
  for (int64_t b = 0; b < blocks.count(); ++b) {
    for (int64_t i = 0; i < I; ++i) out.weight[i] += sums[2 * b * I + i];
    for (int64_t i = 0; i < I; ++i) out.skip[i] += sums[(2 * b + 1) * I + i];
  }
}

}  // namespace

void MlstmReadout(const MlstmReadoutShape& shape, const MlstmReadoutInputs<float>& in, float* y, int threads) {
  RunForward(shape, in, y, threads, HWY_DYNAMIC_DISPATCH(ForwardF32));
}
void MlstmReadout(const MlstmReadoutShape& shape, const MlstmReadoutInputs<double>& in, double* y, int threads) {
  RunForward(shape, in, y, threads, HWY_DYNAMIC_DISPATCH(ForwardF64));
}

void MlstmReadoutBackward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<float>& in, const float* dy,
                          const MlstmReadoutGradients<float>& out, int threads) {
  RunBackward(shape, in, dy, out, threads, HWY_DYNAMIC_DISPATCH(BackwardF32));
}
void MlstmReadoutBackward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<double>& in, const double* dy,
                          const MlstmReadoutGradients<double>& out, int threads) {
  RunBackward(shape, in, dy, out, threads, HWY_DYNAMIC_DISPATCH(BackwardF64));
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
