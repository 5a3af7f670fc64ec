#include "lrnn/io/mamba2_config.h"

#include <limits>

#include "lrnn/base/error.h"

namespace lrnn {

Mamba2Config::Mamba2Config(const Fields& config)
    : heads(config.PositiveInt("num_heads", 4)),
      groups(config.PositiveInt("n_groups", 1)),
      states(config.PositiveInt("state_size", 128)) {
  const double channels = static_cast<double>(config.PositiveInt("hidden_size")) * config.Double("expand", 2.0);
  if (!(channels >= 1 && channels <= std::numeric_limits<int32_t>::max())) {
    config.Refuse("expand", "a number that makes the width at least 1");
  }
  const int64_t total = static_cast<int64_t>(channels);
  if (total % heads != 0) config.Refuse("num_heads", fmt::format("a divisor of {} (hidden_size times expand)", total));
  head_width = total / heads;
  if (config.PositiveInt("head_dim", head_width) != head_width) {
    config.Refuse("head_dim", fmt::format("{} (hidden_size times expand / num_heads)", head_width));
  }
  if (heads % groups != 0) config.Refuse("n_groups", fmt::format("a divisor of {} (num_heads)", heads));
  if (!config.Bool("rms_norm", true)) config.Refuse("rms_norm", "true");
  if (config.String("hidden_act", "silu") != "silu") config.Refuse("hidden_act", "\"silu\"");
}

}  // namespace lrnn
