// A DeltaProduct layer, symbol by symbol.
#pragma once

#include <vector>

#include "lrnn/runtime/automaton_network.h"
#include "lrnn/runtime/householder_factor.h"

namespace lrnn {

// Pads all symbols to the largest number of factors with steps that do nothing: beta 0, k = e_0, v = 0.
DeltaProductTable BuildLayer(int K, int copies, const std::vector<std::vector<HouseholderFactor>>& symbols);

}  // namespace lrnn
