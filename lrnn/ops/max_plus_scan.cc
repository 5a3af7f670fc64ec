#include "lrnn/ops/max_plus_scan.h"

#include <algorithm>

#include "lrnn/base/error.h"

namespace lrnn::ops {

MaxPlusScanResult MaxPlusScan(const torch::Tensor& a, const torch::Tensor& b, const Sequences& sequences,
                              const c10::optional<torch::Tensor>& initial) {
  LRNN_CHECK(a.dim() == 2 && a.size(0) == sequences.tokens(),
             "[max_plus_scan] expected a of shape [T, H] with T = {}, got [{}]", sequences.tokens(),
             fmt::join(a.sizes(), ", "));
  LRNN_CHECK(b.sizes() == a.sizes(), "[max_plus_scan] expected b of shape [T, H] = [{}], got [{}]",
             fmt::join(a.sizes(), ", "), fmt::join(b.sizes(), ", "));
  const int64_t H = a.size(1), N = sequences.count();
  LRNN_CHECK(!initial || initial->sizes() == at::IntArrayRef({N, H}),
             "[max_plus_scan] expected initial of shape [N, H] = [{}, {}], got [{}]", N, H,
             fmt::join(initial->sizes(), ", "));
  torch::NoGradGuard no_grad;
  const auto on_cpu = [](const torch::Tensor& x) { return x.to(torch::kCPU, torch::kFloat64).contiguous(); };
  const torch::Tensor a_cpu = on_cpu(a), b_cpu = on_cpu(b);
  torch::Tensor final = initial ? on_cpu(*initial).clone() : torch::zeros({N, H}, torch::kFloat64);
  torch::Tensor before = torch::empty_like(a_cpu), m = torch::empty_like(a_cpu);
  for (int64_t i = 0; i < N; ++i) {
    double* const current = final.data_ptr<double>() + i * H;
    for (int64_t row = sequences.begin(i) * H; row < sequences.end(i) * H; row += H) {
      for (int64_t h = 0; h < H; ++h) {
        before.data_ptr<double>()[row + h] = current[h];
        current[h] = std::max(a_cpu.data_ptr<double>()[row + h] + current[h], b_cpu.data_ptr<double>()[row + h]);
        m.data_ptr<double>()[row + h] = current[h];
      }
    }
  }
  const auto back = [&](const torch::Tensor& x) { return x.to(a.device(), a.scalar_type()); };
  return {back(before), back(m), back(final)};
}

}  // namespace lrnn::ops
