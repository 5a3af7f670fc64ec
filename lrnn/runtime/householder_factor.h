// Generalised Householder factors with few non-zero entries, and the micro-step that applies one:
//
//   S <- S + beta k (v - k^T S)      S: [K]
#pragma once

#include <array>
#include <span>
#include <vector>

#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

template <typename Number>
struct KeyEntry {
  int row;
  Number k;
};

// The micro-step of compiled models, in the arithmetic of Number: what runs and what is proved. Keys of one entry
// (writes, flips) and of two (swaps) are nearly all there are: spelt out they need no loops.
template <typename Number>
inline void HouseholderStep(const KeyEntry<Number>* key, int width, Number beta, Number v, Number* S) {
  if (width == 1) {
    Number& x = S[key[0].row];
    const Number step = beta * (v - key[0].k * x);
    x = x + key[0].k * step;
  } else if (width == 2) {
    Number &x = S[key[0].row], &y = S[key[1].row];
    const Number step = beta * ((v - key[0].k * x) - key[1].k * y);
    x = x + key[0].k * step;
    y = y + key[1].k * step;
  } else {
    Number error = v;
    for (int i = 0; i < width; ++i) error = error - key[i].k * S[key[i].row];
    const Number step = beta * error;
    for (int i = 0; i < width; ++i) S[key[i].row] = S[key[i].row] + key[i].k * step;
  }
}

struct HouseholderFactor {
  std::array<KeyEntry<float>, 4> key;
  int width;
  float beta;
  float v;
};

template <typename Number>
void ApplyFactors(const std::vector<HouseholderFactor>& factors, Number* S) {
  for (const HouseholderFactor& factor : factors) {
    KeyEntry<Number> key[4];
    for (size_t i = 0; i < factor.key.size(); ++i) key[i] = {factor.key[i].row, Number(factor.key[i].k)};
    HouseholderStep(key, factor.width, Number(factor.beta), Number(factor.v), S);
  }
}

// The factors that do simple things to the coordinates of H = S + H_0, where the layer holds S. Each is appended.
class FactorWriter {
 public:
  // `initial` is H_0, one number per coordinate.
  FactorWriter(KeyStyle keys, int copies, std::vector<float> initial);

  using Factors = std::vector<HouseholderFactor>;
  void Swap(int i, int j, Factors& factors) const;         // H_i <-> H_j; eigenvalue -1
  void Write(int i, float value, Factors& factors) const;  // H_i <- value; eigenvalue 0
  void Flip(int i, Factors& factors) const;                // H_i <- -H_i; eigenvalue -1
  void Average(int i, int j, Factors& factors) const;      // H_i, H_j <- (H_i + H_j) / 2; eigenvalue 0
  // H_{p[i]} <- H_i for all i, by n - #cycles swaps.
  void Permute(std::span<const int> permutation, Factors& factors) const;

 private:
  // The difference of two coordinates as a key, beta |k|^2 = square.
  void Difference(int i, int j, float square, Factors& factors) const;
  void Add(std::span<const KeyEntry<float>> key, float beta, float value, Factors& factors) const;

  KeyStyle keys_;
  int copies_;
  std::vector<float> initial_;
};

}  // namespace lrnn
