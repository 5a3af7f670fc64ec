// What follows the state of an mLSTM layer: the read-out, normalised per head, beside a skip and through a gate.
//
//   h = c / (max(|n|, exp(-m)) + 1e-6)        o = [c, n], what is read from the state and from its normaliser
//   u = (h - mean(h)) / sqrt(var(h) + eps)    over the K units of a head
//   y = (u (1 + weight) + skip x) silu(z)
//
// o: [T, H, K + 1]   m: [T, H]   x, z, y: [T, H K]   weight, skip: [H K]. All contiguous; derivation:
// docs/math/linear_attention.md. Results are the same bits for any number of threads.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct MlstmReadoutShape {
  int64_t tokens;  // T
  int64_t heads;   // H
  int64_t width;   // K
};

template <typename T>
struct MlstmReadoutInputs {
  const T* o;
  const T* m;
  const T* x;
  const T* z;
  const T* weight;
  const T* skip;
  T eps;
};

template <typename T>
struct MlstmReadoutGradients {
  T* o;
  T* x;
  T* z;
  T* weight;
  T* skip;
};

void MlstmReadout(const MlstmReadoutShape& shape, const MlstmReadoutInputs<float>& in, float* y, int threads);
void MlstmReadout(const MlstmReadoutShape& shape, const MlstmReadoutInputs<double>& in, double* y, int threads);

// Nothing is kept from the forward pass. m receives no gradient: what is read does not depend on it
// (lrnn/ops/max_plus_scan.h).
void MlstmReadoutBackward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<float>& in, const float* dy,
                          const MlstmReadoutGradients<float>& out, int threads);
void MlstmReadoutBackward(const MlstmReadoutShape& shape, const MlstmReadoutInputs<double>& in, const double* dy,
                          const MlstmReadoutGradients<double>& out, int threads);

}  // namespace lrnn::kernels
