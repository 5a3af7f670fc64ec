#include "lrnn/io/mlstm_config.h"

#include <limits>

#include "lrnn/base/error.h"

namespace lrnn {

MlstmConfig::MlstmConfig(const Fields& config)
    : heads(config.PositiveInt("num_heads", 4)),
      block_size(config.PositiveInt("qkv_proj_blocksize", 4)),
      conv_width(config.PositiveInt("conv1d_kernel_size", 4)) {
  const double width = static_cast<double>(config.PositiveInt("hidden_size")) * config.Double("proj_factor", 2.0);
  if (!(width >= 1 && width <= std::numeric_limits<int32_t>::max())) {
    config.Refuse("proj_factor", "a number that makes the width at least 1");
  }
  const int64_t multiple = config.PositiveInt("round_proj_up_to_multiple_of", 64);
  inner = (static_cast<int64_t>(width) + multiple - 1) / multiple * multiple;
  if (inner % heads != 0) config.Refuse("num_heads", fmt::format("a divisor of {} (the inner width)", inner));
  if (inner % block_size != 0) {
    config.Refuse("qkv_proj_blocksize", fmt::format("a divisor of {} (the inner width)", inner));
  }
  head_width = inner / heads;
}

}  // namespace lrnn
