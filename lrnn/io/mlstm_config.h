// The sizes of an mLSTM layer, read from its config.json: the training form and the streaming form agree on them.
#pragma once

#include <cstdint>

#include "lrnn/io/fields.h"

namespace lrnn {

struct MlstmConfig {
  // Reads hidden_size, proj_factor, round_proj_up_to_multiple_of, num_heads, qkv_proj_blocksize and
  // conv1d_kernel_size. An Error names the field that does not fit the others.
  explicit MlstmConfig(const Fields& config);

  int64_t inner;       // I = proj_factor hidden_size, rounded up
  int64_t heads;       // H
  int64_t head_width;  // K = I / H
  int64_t block_size;  // of the block-diagonal projections
  int64_t conv_width;  // W
};

}  // namespace lrnn
