// The sizes and switches of a delta-rule layer, read from its config.json: the training form and the streaming form
// agree on them. DeltaNet, Gated DeltaNet and (Gated) DeltaProduct are one layer with different switches.
#pragma once

#include <cstdint>

#include "lrnn/io/fields.h"

namespace lrnn {

struct DeltaRuleConfig {
  int64_t width;         // D
  int64_t heads;         // of q and k
  int64_t value_heads;   // H, of v, beta, decay and state; a multiple of `heads`, which they share in order
  int64_t key_width;     // K, of one head
  int64_t value_width;   // V, of one head
  int64_t householders;  // n_h, steps of the rule a token
  int64_t conv_width;    // of the short convolutions; 0: none
  bool silu_qk;          // activation of q and k
  bool has_decay;        // forget gate
  bool has_output_gate;
  bool allow_neg_eigval;
  double beta_margin;       // m: sigmoids below m / (1 + 2 m) count as 0, those above (1 + m) / (1 + 2 m) as 1
  bool margin_in_training;  // false: gradients reach every beta, and m counts in use only
  double norm_eps;

  int64_t keys() const { return heads * key_width; }            // channels of q, and of k in one step
  int64_t values() const { return value_heads * value_width; }  // channels of v in one step, and of o
};

// One for each model_type: delta_net, gated_deltanet, gated_deltaproduct. An Error names the field that does not fit
// the others or asks for what no form can do.
DeltaRuleConfig ReadDeltaNet(const Fields& config);
DeltaRuleConfig ReadGatedDeltaNet(const Fields& config);
DeltaRuleConfig ReadGatedDeltaProduct(const Fields& config);

}  // namespace lrnn
