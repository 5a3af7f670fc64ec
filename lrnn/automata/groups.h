// Permutation groups by generators, and their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lrnn/automata/permutation.h"

namespace lrnn {

struct PermutationGroup {
  std::string name;
  int degree = 0;                       // points 0 .. degree-1
  std::vector<Permutation> generators;  // at least one, all different
};

// A name:
//   S5                 all permutations of 5 points             A5   the even ones
//   Z60  (or C60)      rotations of 60 points                   D7   symmetries of the 7-gon: 14 elements on 7 points
//   Q8                 quaternion group; Q12, Q16, ...: the dicyclic group of that order, on itself
//   PSL(2,7)           for a prime, on the points 0 .. p-1 and infinity = p
//   A4xZ5, A4_x_Z5     direct product, on the points of both side by side
// or generators in cycle notation:
//   (0 1 2)(3 4), (0 1)
// Points may be separated by blanks or commas. Throws Error with a caret where the text is wrong.
PermutationGroup ParseGroup(std::string_view text);

}  // namespace lrnn
