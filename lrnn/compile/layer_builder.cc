#include "lrnn/compile/layer_builder.h"

#include <algorithm>

namespace lrnn {

DeltaProductTable BuildLayer(int K, int copies, const std::vector<std::vector<HouseholderFactor>>& symbols) {
  DeltaProductTable table;
  table.symbols = static_cast<int>(symbols.size());
  table.K = K;
  table.copies = copies;
  for (const auto& factors : symbols) table.n_h = std::max(table.n_h, static_cast<int>(factors.size()));
  const size_t steps = symbols.size() * table.n_h;
  table.k.assign(steps * K, 0.0f);
  table.beta.assign(steps, 0.0f);
  table.v.assign(steps, 0.0f);
  for (size_t symbol = 0; symbol < symbols.size(); ++symbol) {
    for (int m = 0; m < table.n_h; ++m) {
      const size_t step = symbol * table.n_h + m;
      if (m >= static_cast<int>(symbols[symbol].size())) {
        table.k[step * K] = 1.0f;
        continue;
      }
      const HouseholderFactor& factor = symbols[symbol][m];
      for (int i = 0; i < factor.width; ++i) table.k[step * K + factor.key[i].row] = factor.key[i].k;
      table.beta[step] = factor.beta;
      table.v[step] = factor.v;
    }
  }
  return table;
}

}  // namespace lrnn
