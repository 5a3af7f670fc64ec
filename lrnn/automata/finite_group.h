// The elements of a permutation group, numbered.
//
// Elements are in lexicographic order as tuples (p[0], p[1], ...), so 0 is the identity; S_n has all permutations in
// lexicographic order, A_n the even ones in the same order, Z_m the rotation by r at r, and GxH numbers (g, h)
// as g |H| + h. The product is that of permutation.h, a * b = "a after b"; in S5: 1*2 = 4, 2*1 = 3, 24*1 = 25.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lrnn/automata/dfa.h"
#include "lrnn/automata/groups.h"

namespace lrnn {

class FiniteGroup {
 public:
  // Throws Error when the group has more than max_order elements.
  explicit FiniteGroup(PermutationGroup group, int max_order = 20'000);

  const std::string& name() const { return group_.name; }
  int degree() const { return group_.degree; }
  int order() const { return static_cast<int>(elements_.size()); }
  const Permutation& element(int id) const { return elements_[id]; }
  const std::vector<int>& generators() const { return generators_; }  // their ids, in the order of the group's

  int Find(const Permutation& p) const;  // its id, or -1 when it is not in the group
  int Multiply(int a, int b) const;      // the id of a * b
  int Inverse(int a) const { return Find(lrnn::Inverse(elements_[a])); }

 private:
  void FillTable();

  PermutationGroup group_;
  std::vector<Permutation> elements_;
  std::vector<int> generators_;
  std::vector<std::vector<int>> times_generator_;  // [generator][a]: a * generator
  std::vector<int> table_;                         // [a * order + b]: a * b; empty for large groups
};

// States = elements, start and only accepting state = identity; reading the letter x in state y leads to y * x, so the
// word x_1 ... x_t leads to x_1 * ... * x_t. Letters are the generators, or all elements by their ids; they are named
// in cycle notation.
enum class CayleyLetters { kGenerators, kElements };
Dfa CayleyAutomaton(const FiniteGroup& group, CayleyLetters letters = CayleyLetters::kGenerators);

// States = points, start and only accepting state = 0; letters = generators; the letter p leads from i to p[i].
// Letters act one after the other: x_1 ... x_t takes i to x_t[...x_1[i]...].
Dfa ActionAutomaton(const PermutationGroup& group);

// Whether permutations, all of one degree, are a group: at least one, and with any two of them their product.
bool IsClosed(const std::vector<Permutation>& permutations);

}  // namespace lrnn
