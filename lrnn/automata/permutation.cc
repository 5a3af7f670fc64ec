#include "lrnn/automata/permutation.h"

#include <fmt/format.h>

#include <numeric>

namespace lrnn {
namespace {

// Calls visit(first point of the cycle, its length) for each cycle, in the order of their smallest points.
template <typename Visit>
void ForEachCycle(const Permutation& p, const Visit& visit) {
  std::vector<bool> is_seen(p.size(), false);
  for (size_t first = 0; first < p.size(); ++first) {
    int length = 0;
    for (size_t i = first; !is_seen[i]; i = static_cast<size_t>(p[i])) {
      is_seen[i] = true;
      ++length;
    }
    if (length > 0) visit(static_cast<int>(first), length);
  }
}

}  // namespace

Permutation IdentityPermutation(int degree) {
  Permutation p(degree);
  std::iota(p.begin(), p.end(), 0);
  return p;
}

Permutation Multiply(const Permutation& a, const Permutation& b) {
  Permutation product(b.size());
  for (size_t i = 0; i < b.size(); ++i) product[i] = a[b[i]];
  return product;
}

Permutation Inverse(const Permutation& p) {
  Permutation inverse(p.size());
  for (size_t i = 0; i < p.size(); ++i) inverse[p[i]] = static_cast<int>(i);
  return inverse;
}

bool IsPermutation(std::span<const int> map) {
  std::vector<bool> is_hit(map.size(), false);
  for (const int to : map) {
    if (to < 0 || to >= static_cast<int>(map.size()) || is_hit[to]) return false;
    is_hit[to] = true;
  }
  return true;
}

int MovedPoints(const Permutation& p) {
  int moved = 0;
  for (size_t i = 0; i < p.size(); ++i) moved += p[i] != static_cast<int>(i);
  return moved;
}

int SwapsNeeded(const Permutation& p) {
  int swaps = 0;
  ForEachCycle(p, [&swaps](int, int length) { swaps += length - 1; });
  return swaps;
}

std::string CycleNotation(const Permutation& p) {
  std::string text;
  ForEachCycle(p, [&](int first, int length) {
    if (length == 1) return;
    text += fmt::format("({}", first);
    for (int i = p[first]; i != first; i = p[i]) text += fmt::format(",{}", i);
    text += ')';
  });
  return text.empty() ? "()" : text;
}

}  // namespace lrnn
