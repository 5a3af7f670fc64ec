#include "lrnn/io/slstm_config.h"

#include <limits>

#include "lrnn/base/error.h"

namespace lrnn {

SlstmConfig::SlstmConfig(const Fields& config) : heads(config.PositiveInt("num_heads", 4)) {
  const int64_t D = config.PositiveInt("hidden_size");
  if (D % heads != 0) config.Refuse("num_heads", fmt::format("a divisor of {} (hidden_size)", D));
  head_width = D / heads;
  const double width = static_cast<double>(D) * config.Double("ffn_proj_factor", 1.3);
  if (!(width >= 1 && width <= std::numeric_limits<int32_t>::max())) {
    config.Refuse("ffn_proj_factor", "a number that makes the width at least 1");
  }
  const int64_t multiple = config.PositiveInt("round_proj_up_to_multiple_of", 64);
  ffn_inner = (static_cast<int64_t>(width) + multiple - 1) / multiple * multiple;
}

}  // namespace lrnn
