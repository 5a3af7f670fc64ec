#include "lrnn/automata/scc.h"

#include <gtest/gtest.h>

#include "lrnn/base/rng.h"

namespace lrnn {
namespace {

TEST(Scc, AgreesWithReachabilityOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed, 0);
    const int nodes = 1 + static_cast<int>(rng.Below(12));
    std::vector<std::vector<int>> edges(nodes);
    for (auto& row : edges) {
      for (int i = 0; i < 2; ++i) row.push_back(static_cast<int>(rng.Below(nodes + 2)) - 2 < 0 ? -1 : rng.Below(nodes));
    }
    const auto component = StronglyConnectedComponents(nodes, 2, [&](int v, int i) { return edges[v][i]; });
    std::vector<std::vector<bool>> reach(nodes, std::vector<bool>(nodes, false));
    for (int v = 0; v < nodes; ++v) {
      reach[v][v] = true;
      for (const int to : edges[v]) {
        if (to >= 0) reach[v][to] = true;
      }
    }
    for (int k = 0; k < nodes; ++k) {
      for (int i = 0; i < nodes; ++i) {
        for (int j = 0; j < nodes; ++j) reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
      }
    }
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < nodes; ++j) {
        EXPECT_EQ(component[i] == component[j], reach[i][j] && reach[j][i]);
        if (reach[i][j]) {
          EXPECT_GE(component[i], component[j]);
        }
      }
    }
  }
}

TEST(Scc, DeepGraphsNeedNoStack) {
  constexpr int kNodes = 1'000'000;
  const auto chain = StronglyConnectedComponents(kNodes, 1, [](int v, int) { return v + 1 < kNodes ? v + 1 : -1; });
  EXPECT_EQ(chain[0], kNodes - 1);
  const auto ring = StronglyConnectedComponents(kNodes, 1, [](int v, int) { return (v + 1) % kNodes; });
  EXPECT_EQ(ring[kNodes / 2], 0);
}

}  // namespace
}  // namespace lrnn
