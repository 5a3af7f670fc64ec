// The width of a head of q, k or v in the fla models: hidden_size times an expansion, shared evenly among the heads.
#pragma once

#include <cstdint>
#include <string_view>

#include "lrnn/io/fields.h"

namespace lrnn {

// Of `config`, with the field `expansion` ("expand_k") or its default, and num_heads. An Error names the field where
// the width is none or the heads do not divide it.
int64_t HeadWidth(const Fields& config, std::string_view expansion, double otherwise);

}  // namespace lrnn
