#include "lrnn/io/head_width.h"

#include <limits>

#include "lrnn/base/error.h"

namespace lrnn {

int64_t HeadWidth(const Fields& config, std::string_view expansion, double otherwise) {
  const int64_t heads = config.PositiveInt("num_heads");
  const double width = static_cast<double>(config.PositiveInt("hidden_size")) * config.Double(expansion, otherwise);
  if (!(width >= 1 && width <= std::numeric_limits<int32_t>::max())) {
    config.Refuse(expansion, "a number that makes the width at least 1");
  }
  const int64_t total = static_cast<int64_t>(width);
  if (total % heads != 0) {
    config.Refuse("num_heads", fmt::format("a divisor of {} (hidden_size times {})", total, expansion));
  }
  return total / heads;
}

}  // namespace lrnn
