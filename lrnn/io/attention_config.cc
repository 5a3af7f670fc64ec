#include "lrnn/io/attention_config.h"

#include "lrnn/base/error.h"

namespace lrnn {

AttentionConfig::AttentionConfig(const Fields& config)
    : heads(config.PositiveInt("num_heads", 4)), rope_theta(config.Double("rope_theta", 10000)) {
  const int64_t D = config.PositiveInt("hidden_size");
  if (D % (2 * heads) != 0) config.Refuse("num_heads", fmt::format("heads of an even width (hidden_size {})", D));
  head_width = D / heads;
  if (!(rope_theta > 0)) config.Refuse("rope_theta", "a positive number");
  if (config.Int("num_kv_heads", heads) != heads) config.Refuse("num_kv_heads", "num_heads or null");
  if (config.Has("window_size")) config.Refuse("window_size", "null");
  if (config.Bool("qkv_bias", false)) config.Refuse("qkv_bias", "false");
  if (config.Bool("qk_norm", false)) config.Refuse("qk_norm", "false");
}

}  // namespace lrnn
