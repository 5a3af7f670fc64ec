#include "lrnn/runtime/householder_factor.h"

#include <cmath>

namespace lrnn {

FactorWriter::FactorWriter(KeyStyle keys, int copies, std::vector<float> initial)
    : keys_(keys), copies_(copies), initial_(std::move(initial)) {}

void FactorWriter::Add(std::span<const KeyEntry<float>> key, float beta, float value, Factors& factors) const {
  HouseholderFactor factor{};
  double shift = 0.0;  // k^T H_0
  for (const KeyEntry<float>& entry : key) {
    factor.key[factor.width++] = entry;
    shift += static_cast<double>(entry.k) * initial_[entry.row / copies_];
  }
  factor.beta = beta;
  factor.v = static_cast<float>(value - shift);
  factors.push_back(factor);
}

void FactorWriter::Difference(int i, int j, float square, Factors& factors) const {
  if (copies_ == 2) {
    const KeyEntry<float> key[] = {{2 * i, 0.5f}, {2 * i + 1, 0.5f}, {2 * j, -0.5f}, {2 * j + 1, -0.5f}};
    Add(key, square, 0.0f, factors);
  } else if (keys_ == KeyStyle::kUnit) {
    const float half_root = static_cast<float>(std::sqrt(0.5));
    const KeyEntry<float> key[] = {{i, half_root}, {j, -half_root}};
    Add(key, square, 0.0f, factors);
  } else {
    const KeyEntry<float> key[] = {{i, 1.0f}, {j, -1.0f}};
    Add(key, square / 2, 0.0f, factors);
  }
}

void FactorWriter::Swap(int i, int j, Factors& factors) const { Difference(i, j, 2.0f, factors); }

void FactorWriter::Average(int i, int j, Factors& factors) const { Difference(i, j, 1.0f, factors); }

void FactorWriter::Write(int i, float value, Factors& factors) const {
  for (int copy = 0; copy < copies_; ++copy) {
    const KeyEntry<float> key[] = {{i * copies_ + copy, 1.0f}};
    Add(key, 1.0f, value, factors);
  }
}

void FactorWriter::Flip(int i, Factors& factors) const {
  for (int copy = 0; copy < copies_; ++copy) {
    const KeyEntry<float> key[] = {{i * copies_ + copy, 1.0f}};
    Add(key, 2.0f, 0.0f, factors);
  }
}

void FactorWriter::Permute(std::span<const int> permutation, Factors& factors) const {
  factors.reserve(factors.size() + permutation.size());
  std::vector<bool> done(permutation.size(), false);
  for (size_t first = 0; first < permutation.size(); ++first) {
    if (done[first]) continue;
    // The cycle c0 -> c1 -> ...: (c0 c1), then (c0 c2), ...
    for (int point = permutation[first]; point != static_cast<int>(first); point = permutation[point]) {
      done[point] = true;
      Swap(static_cast<int>(first), point, factors);
    }
  }
}

}  // namespace lrnn
