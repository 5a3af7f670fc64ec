// Uses the torch half of an installed lrnn.
#include <cstdio>

#include "lrnn/ops/sequences.h"

int main() {
  const lrnn::ops::Sequences sequences(torch::tensor({0, 3, 5}));
  if (sequences.count() != 2 || sequences.tokens() != 5 || sequences.max_length() != 3) {
    std::puts("outside_torch: wrong sequences");
    return 1;
  }
  std::puts("outside_torch: ok");
  return 0;
}
