// The sizes of an sLSTM layer and of the gated MLP behind it, read from config.json: the training form and the
// streaming form agree on them.
#pragma once

#include <cstdint>

#include "lrnn/io/fields.h"

namespace lrnn {

struct SlstmConfig {
  // Reads hidden_size, num_heads, ffn_proj_factor and round_proj_up_to_multiple_of. An Error names the field that does
  // not fit the others.
  explicit SlstmConfig(const Fields& config);

  int64_t heads;       // H
  int64_t head_width;  // K = hidden_size / H
  int64_t ffn_inner;   // ffn_proj_factor hidden_size, rounded up
};

}  // namespace lrnn
