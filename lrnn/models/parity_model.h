// For tests: a DeltaNet whose weights are written down, not trained, so that how far it tracks parity is known.
//
// One layer, one head. Key and query are e_0, the value is c e_0 with c = 2, and beta is 0 for the bit 0 and 2 -
// epsilon for the bit 1. So of the state only s = S_00 moves, at a 1:
//
//   s <- (1 - beta) s + beta c,   s - c <- (epsilon - 1) (s - c)
//
// With epsilon = 0 it alternates between 0 (even) and 2c (odd), exactly, for ever. Otherwise after n ones
// s = c (1 -+ (1 - epsilon)^n): both states approach c. The head says "odd" where s > boundary.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "lrnn/models/model.h"

namespace lrnn {

inline Model ParityModel(double epsilon, double boundary) {
  constexpr double kEps = 1;  // of the norms: large, so that the norm of the read-out does not hide the size of s
  Model model(Fields({{"model_type", "delta_net"},
                      {"vocab_size", 3},
                      {"hidden_size", 4},
                      {"num_hidden_layers", 1},
                      {"num_heads", 1},
                      {"use_short_conv", false},
                      {"use_final_norm", false},
                      {"norm_eps", kEps},
                      {"allow_neg_eigval", true}},
                     "parity_model.h"),
              0);
  torch::NoGradGuard no_grad;
  const auto parameter = [&](const std::string& name) {
    for (auto& item : model->named_parameters()) {
      if (item.key().ends_with(name)) return item.value();
    }
    throw std::logic_error("no parameter " + name);
  };
  for (auto& item : model->named_parameters()) {
    if (!item.key().ends_with("norm.weight")) item.value().zero_();
  }
  // x = (is 0, is 1, read-out, 1); a token's x has mean square 1/2 before the mixer.
  const double scale = 1 / std::sqrt(0.5 + kEps);
  parameter("embeddings.weight").index_put_({1, 0}, 1);
  parameter("embeddings.weight").index_put_({2, 1}, 1);
  parameter("embeddings.weight").slice(0, 1).select(1, 3).fill_(1);
  parameter("q_proj.weight").index_put_({0, 3}, 100);
  parameter("k_proj.weight").index_put_({0, 3}, 100);
  parameter("v_proj.weight").index_put_({0, 3}, 2.2176 / scale);  // silu(2.2176) = 2
  const double logit = epsilon > 0 ? std::log((2 - epsilon) / epsilon) : 1000;
  parameter("b_proj.weight").index_put_({0, 0}, -1000);
  parameter("b_proj.weight").index_put_({0, 1}, logit / scale);
  parameter("o_proj.weight").index_put_({2, 0}, 1);
  // o = s / sqrt(K) = s / 2, its norm over V = 4.
  const double read = boundary / 2 / std::sqrt(boundary * boundary / 16 + kEps);
  parameter("lm_head.weight").index_put_({0, 3}, -100);
  parameter("lm_head.weight").index_put_({1, 3}, read);
  parameter("lm_head.weight").index_put_({2, 2}, 1);
  return model;
}

}  // namespace lrnn
