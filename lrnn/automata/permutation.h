// Permutations of the points 0 .. n-1.
//
// p takes point i to p[i]. The product a * b is "a after b": (a * b)[i] = a[b[i]].
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lrnn {

using Permutation = std::vector<int>;

Permutation IdentityPermutation(int degree);
Permutation Multiply(const Permutation& a, const Permutation& b);
Permutation Inverse(const Permutation& p);

bool IsPermutation(std::span<const int> map);
int MovedPoints(const Permutation& p);  // how many i have p[i] != i
int SwapsNeeded(const Permutation& p);  // n - #cycles: the fewest swaps whose product is p

// "(0,1,2)(3,4)", "()" for the identity; without blanks, so that it can name a letter anywhere.
std::string CycleNotation(const Permutation& p);

}  // namespace lrnn
