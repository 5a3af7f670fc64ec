// Strongly connected components of a directed graph.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace lrnn {

// The component of each node 0 .. nodes-1, numbered so that edges lead to components of the same or a smaller number
// (Tarjan 1972, without recursion). successor(v, i) is the end of edge i of node v, i < degree, or -1 for no edge.
template <typename Successor>
std::vector<int> StronglyConnectedComponents(int nodes, int degree, const Successor& successor) {
  constexpr int kUnseen = -1;
  std::vector<int> component(nodes, kUnseen);
  std::vector<int> seen(nodes, kUnseen);  // the order of the first visit
  std::vector<int> low(nodes);            // the earliest node on the stack known to be reachable
  std::vector<int> stack;
  std::vector<std::pair<int, int>> calls;  // (node, its next edge)
  int visits = 0;
  int components = 0;
  const auto enter = [&](int v) {
    seen[v] = low[v] = visits++;
    stack.push_back(v);
    calls.emplace_back(v, 0);
  };
  for (int root = 0; root < nodes; ++root) {
    if (seen[root] != kUnseen) continue;
    enter(root);
    while (!calls.empty()) {
      const int v = calls.back().first;
      if (calls.back().second < degree) {
        const int to = successor(v, calls.back().second++);
        if (to < 0) continue;
        if (seen[to] == kUnseen) {
          enter(to);
        } else if (component[to] == kUnseen) {
          low[v] = std::min(low[v], seen[to]);
        }
        continue;
      }
      calls.pop_back();
      if (!calls.empty()) low[calls.back().first] = std::min(low[calls.back().first], low[v]);
      if (low[v] != seen[v]) continue;
      for (int u = kUnseen; u != v;) {
        u = stack.back();
        stack.pop_back();
        component[u] = components;
      }
      ++components;
    }
  }
  return component;
}

}  // namespace lrnn
