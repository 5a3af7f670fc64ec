#include "lrnn/layers/gated_deltanet.h"

#include "lrnn/layers/delta_rule_mixer.h"

namespace lrnn {

LayerInfo GatedDeltaNetInfo() {
  return {.name = "gated_deltanet",
          .title = "Gated DeltaNet",
          .transition = "a (I - beta k k^T)",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"num_heads", 4, "heads of q and k"},
                   {"num_v_heads", nullptr, "heads of v, each with a state of its own; null: num_heads"},
                   {"head_dim", nullptr, "width of a key; null: hidden_size / num_heads"},
                   {"expand_v", 2.0, "width of a value / width of a key"},
                   {"use_gate", true, "gate on the normed output"},
                   {"use_short_conv", true, "short convolutions on q, k and v"},
                   {"conv_size", 4, "their width"},
                   {"beta_margin", 0.0, "how near 0 or 1 its sigmoid makes beta 0 or its largest"},
                   {"beta_margin_in_training", true, "false: the margin counts in use, not while training"},
                   {"norm_eps", 1e-6, "epsilon of the norms"}},
          .make = [](const Fields& config,
                     Rng& rng) { return std::make_shared<DeltaRuleMixer>(ReadGatedDeltaNet(config), rng); },
          .uniform_mlp_down = true};
}

}  // namespace lrnn
