// The settings of softmax attention that its training and its streaming form share.
#pragma once

#include <cstdint>

#include "lrnn/io/fields.h"

namespace lrnn {

struct AttentionConfig {
  // From num_heads, hidden_size, rope_theta; an Error refuses what neither form can run.
  explicit AttentionConfig(const Fields& config);

  int64_t heads;
  int64_t head_width;
  double rope_theta;  // base of the position's angles
};

}  // namespace lrnn
