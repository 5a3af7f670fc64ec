#include "lrnn/layers/delta_net.h"

#include "lrnn/layers/delta_rule_mixer.h"

namespace lrnn {

LayerInfo DeltaNetInfo() {
  return {.name = "delta_net",
          .title = "DeltaNet",
          .transition = "I - beta k k^T",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"num_heads", 4, "heads, each with a state of its own"},
                   {"expand_k", 1.0, "width of all keys / hidden_size"},
                   {"expand_v", 1.0, "width of all values / hidden_size"},
                   {"use_short_conv", true, "short convolutions on q, k and v"},
                   {"conv_size", 4, "their width"},
                   {"qk_activation", "silu", "activation of q and k: silu or identity"},
                   {"use_gate", false, "gate on the normed output"},
                   {"beta_margin", 0.0, "how near 0 or 1 its sigmoid makes beta 0 or its largest"},
                   {"beta_margin_in_training", true, "false: the margin counts in use, not while training"},
                   {"norm_eps", 1e-6, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) {
            return std::make_shared<DeltaRuleMixer>(ReadDeltaNet(config), rng);
          }};
}

}  // namespace lrnn
