// Automata whose letters permute the states: the group that the letters generate, acting on as few points, with as few
// swaps, as a search finds.
//
// A letter w that permutes n points is a product of n - #cycles(w) swaps, and no fewer reflections will do. The action
// on the states themselves is often a poor one (S5 acts on its 120 elements by 60 swaps and more, on 5 points by 4).
// Any subgroup H gives an action on the |G| / |H| cosets H g; actions side by side are faithful when the intersection
// of their kernels is trivial. The search tries the stabilisers of states and some hundred random subgroups, and
// combines them by Dijkstra's algorithm over the intersections of kernels; it gives an upper bound, not always the
// minimum.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lrnn/automata/dfa.h"
#include "lrnn/automata/permutation.h"

namespace lrnn {

// The elements of the group as maps of the states that can be reached.
struct LetterGroup {
  std::vector<int> state_of;            // [element]: where it takes the start state; 0 is the identity
  std::vector<std::vector<int>> times;  // [letter][element]: the element, then the letter
  int order() const { return static_cast<int>(state_of.size()); }
};

// Whether every letter permutes the states.
bool IsGroupAutomaton(const Dfa& dfa);

// Nothing when there are more than max_order elements.
std::optional<LetterGroup> FindLetterGroup(const Dfa& dfa, int64_t max_order);

enum class GroupCost { kReflections, kDegree };

struct PointAction {
  int points = 0;
  std::vector<Permutation> letters;  // [letter]: content of point i moves to letters[s][i]
};

// A faithful action, cheap by the sum of the letters' swaps or by the number of points. The same group and seed give
// the same action.
PointAction FindPointAction(const LetterGroup& group, GroupCost cost, uint64_t seed = 0);

// [element]: the power of one generator that it is, when the group is cyclic.
std::optional<std::vector<int>> CyclicPowers(const LetterGroup& group);

}  // namespace lrnn
