#include "lrnn/layers/gated_deltaproduct.h"

#include "lrnn/layers/delta_rule_mixer.h"

namespace lrnn {

LayerInfo GatedDeltaProductInfo() {
  return {.name = "gated_deltaproduct",
          .title = "DeltaProduct",
          .transition = "a prod_j (I - beta_j k_j k_j^T)",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"num_householder", 1, "steps a token; from 3 on the range is [-1,1] in any case"},
                   {"use_forget_gate", false, "decay of the state before the steps"},
                   {"num_heads", 4, "heads, each with a state of its own"},
                   {"head_dim", nullptr, "width of a key; null: hidden_size / num_heads"},
                   {"expand_v", 2.0, "width of a value / width of a key"},
                   {"use_output_gate", true, "gate on the normed output"},
                   {"use_short_conv", true, "short convolutions on q, k and v"},
                   {"conv_size", 4, "their width"},
                   {"beta_margin", 0.0, "how near 0 or 1 its sigmoid makes beta 0 or its largest"},
                   {"beta_margin_in_training", true, "false: the margin counts in use, not while training"},
                   {"norm_eps", 1e-6, "epsilon of the norms"}},
          .make = [](const Fields& config,
                     Rng& rng) { return std::make_shared<DeltaRuleMixer>(ReadGatedDeltaProduct(config), rng); },
          .uniform_mlp_down = true};
}

}  // namespace lrnn
