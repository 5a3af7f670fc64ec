#include "lrnn/io/delta_rule_config.h"

#include <limits>

#include "lrnn/base/error.h"
#include "lrnn/io/head_width.h"

namespace lrnn {
namespace {

// What the three have in common.
DeltaRuleConfig Common(const Fields& config) {
  if (config.Has("attn")) config.Refuse("attn", "null (no attention layers)");
  DeltaRuleConfig common{};
  common.width = config.PositiveInt("hidden_size");
  common.heads = common.value_heads = config.PositiveInt("num_heads");
  common.householders = 1;
  common.conv_width = config.Bool("use_short_conv", true) ? config.PositiveInt("conv_size", 4) : 0;
  common.silu_qk = true;
  common.allow_neg_eigval = config.Bool("allow_neg_eigval", false);
  common.beta_margin = config.Double("beta_margin", 0);
  if (!(common.beta_margin >= 0 && common.beta_margin <= 1)) config.Refuse("beta_margin", "a number from 0 to 1");
  common.margin_in_training = config.Bool("beta_margin_in_training", true);
  common.norm_eps = config.Double("norm_eps", 1e-6);
  return common;
}

// The gated layers give the width of a head.
DeltaRuleConfig Gated(const Fields& config) {
  DeltaRuleConfig gated = Common(config);
  if (!config.Has("head_dim") && gated.width % gated.heads != 0) {
    config.Refuse("num_heads", fmt::format("a divisor of {} (hidden_size) where there is no head_dim", gated.width));
  }
  gated.key_width = config.PositiveInt("head_dim", gated.width / gated.heads);
  const double value_width = static_cast<double>(gated.key_width) * config.Double("expand_v", 2);
  if (!(value_width >= 1 && value_width <= std::numeric_limits<int32_t>::max())) {
    config.Refuse("expand_v", "a number that makes the width at least 1");
  }
  gated.value_width = static_cast<int64_t>(value_width);
  gated.value_heads = config.PositiveInt("num_v_heads", gated.heads);
  if (gated.value_heads % gated.heads != 0) {
    config.Refuse("num_v_heads", fmt::format("a multiple of {} (num_heads)", gated.heads));
  }
  return gated;
}

}  // namespace

DeltaRuleConfig ReadDeltaNet(const Fields& config) {
  DeltaRuleConfig delta = Common(config);
  delta.key_width = HeadWidth(config, "expand_k", 1);
  delta.value_width = HeadWidth(config, "expand_v", 1);
  delta.has_output_gate = config.Bool("use_gate", false);
  const std::string activation = config.String("qk_activation", "silu");
  if (activation != "silu" && activation != "identity") config.Refuse("qk_activation", "\"silu\" or \"identity\"");
  delta.silu_qk = activation == "silu";
  if (config.String("qk_norm", "l2") != "l2") config.Refuse("qk_norm", "\"l2\"");
  if (!config.Bool("use_beta", true)) config.Refuse("use_beta", "true");
  return delta;
}

DeltaRuleConfig ReadGatedDeltaNet(const Fields& config) {
  DeltaRuleConfig gated = Gated(config);
  gated.has_decay = true;
  gated.has_output_gate = config.Bool("use_gate", true);
  return gated;
}

DeltaRuleConfig ReadGatedDeltaProduct(const Fields& config) {
  DeltaRuleConfig product = Gated(config);
  product.householders = config.PositiveInt("num_householder", 1);
  product.has_decay = config.Bool("use_forget_gate", false);
  product.has_output_gate = config.Bool("use_output_gate", true);
  return product;
}

}  // namespace lrnn
