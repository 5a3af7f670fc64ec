// The sizes of a Mamba-2 layer, read from its config.json: the training form and the streaming form agree on them.
#pragma once

#include <cstdint>

#include "lrnn/io/fields.h"

namespace lrnn {

struct Mamba2Config {
  // Reads hidden_size, expand, num_heads, head_dim (if it is there), n_groups and state_size. An Error names the field
  // that does not fit the others or asks for what no form can do.
  explicit Mamba2Config(const Fields& config);

  int64_t inner() const { return heads * head_width; }                 // channels of u, z and o
  int64_t convolved() const { return inner() + 2 * groups * states; }  // channels of u, B and C

  int64_t heads;       // H
  int64_t head_width;  // P
  int64_t groups;      // G
  int64_t states;      // N
};

}  // namespace lrnn
