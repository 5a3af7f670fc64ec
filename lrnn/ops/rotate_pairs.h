// Rotations in planes: pairs of channels turned by an angle, as rotary position embeddings do (Su et al., 2021).
//
//   (x_i, x_{i+K/2}) -> (x_i cos a_i - x_{i+K/2} sin a_i,  x_i sin a_i + x_{i+K/2} cos a_i)        i < K/2
//
// x: [T, H, K]   angles: [T, 1, K/2], the same for all heads, or [T, H, K/2], in radians
// Channel i and channel i + K/2 are a pair, as in Llama's checkpoints.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// Any further dimensions of x behind K are turned alike. Cosine and sine are taken in the angles' own type.
torch::Tensor RotatePairs(const torch::Tensor& x, const torch::Tensor& angles);

// The angles of rotary position embeddings: position times theta^(-2 i / K), in double. positions: int64 [T] -> [T, 1,
// K/2]
torch::Tensor RotaryAngles(const torch::Tensor& positions, int64_t K, double theta);

// The position of each token in its sequence: int64 [T]. The first tokens' are `first` (int64 [N], on the CPU), or 0.
torch::Tensor Positions(const Sequences& sequences, const c10::optional<torch::Tensor>& first = c10::nullopt);

}  // namespace lrnn::ops
