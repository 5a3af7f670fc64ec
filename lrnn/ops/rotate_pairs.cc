#include "lrnn/ops/rotate_pairs.h"

#include <cmath>

#include "lrnn/base/error.h"

namespace lrnn::ops {

using torch::Tensor;

Tensor RotatePairs(const Tensor& x, const Tensor& angles) {
  LRNN_CHECK(x.dim() >= 3 && x.size(2) % 2 == 0,
             "[rotate_pairs] expected x of shape [T, H, K] with an even K, got [{}]", fmt::join(x.sizes(), ", "));
  const int64_t T = x.size(0), H = x.size(1), pairs = x.size(2) / 2;
  LRNN_CHECK(angles.dim() == 3 && angles.size(0) == T && (angles.size(1) == 1 || angles.size(1) == H) &&
                 angles.size(2) == pairs,
             "[rotate_pairs] expected angles of shape [T, 1 or H, K/2] = [{}, 1 or {}, {}], got [{}]", T, H, pairs,
             fmt::join(angles.sizes(), ", "));
  std::vector<int64_t> shape = angles.sizes().vec();
  shape.resize(x.dim(), 1);
  const Tensor c = torch::cos(angles).to(x.scalar_type()).view(shape),
               s = torch::sin(angles).to(x.scalar_type()).view(shape);
  const auto parts = x.split(pairs, 2);
  return torch::cat({parts[0] * c - parts[1] * s, parts[0] * s + parts[1] * c}, 2);
}

Tensor RotaryAngles(const Tensor& positions, int64_t K, double theta) {
  const auto options = positions.options().dtype(torch::kFloat64);
  const Tensor frequencies = torch::pow(theta, -2 * torch::arange(K / 2, options) / static_cast<double>(K));
  return (positions.to(torch::kFloat64).unsqueeze(1) * frequencies).unsqueeze(1);
}

Tensor Positions(const Sequences& sequences, const c10::optional<Tensor>& first) {
  std::vector<int64_t> positions;
  positions.reserve(sequences.tokens());
  for (int64_t i = 0; i < sequences.count(); ++i) {
    const int64_t start = first ? (*first)[i].item<int64_t>() : 0;
    for (int64_t t = 0; t < sequences.length(i); ++t) positions.push_back(start + t);
  }
  return torch::tensor(positions, torch::kInt64);
}

}  // namespace lrnn::ops
