#include "lrnn/compile/group_representation.h"

#include <gtest/gtest.h>

#include <set>

#include "lrnn/automata/finite_group.h"
#include "lrnn/automata/groups.h"

namespace lrnn {
namespace {

Dfa Cayley(const std::string& name) { return CayleyAutomaton(FiniteGroup(ParseGroup(name))); }

std::vector<int> Swaps(const PointAction& action) {
  std::vector<int> swaps;
  for (const Permutation& letter : action.letters) swaps.push_back(SwapsNeeded(letter));
  return swaps;
}

TEST(LetterGroup, IsTheGroupOfTheMaps) {
  EXPECT_EQ(FindLetterGroup(Cayley("S4"), 4000)->order(), 24);
  // On points it is the same group; it has more elements than the automaton has states.
  const Dfa on_points = ActionAutomaton(ParseGroup("S4"));
  EXPECT_EQ(on_points.num_states, 4);
  const LetterGroup group = *FindLetterGroup(on_points, 4000);
  EXPECT_EQ(group.order(), 24);
  EXPECT_EQ(group.state_of[0], on_points.start);
  for (int g = 0; g < group.order(); ++g) {
    for (int s = 0; s < on_points.num_letters(); ++s) {
      EXPECT_EQ(group.state_of[group.times[s][g]], on_points.next[s][group.state_of[g]]);
    }
  }
  EXPECT_FALSE(FindLetterGroup(on_points, 23).has_value());
  EXPECT_FALSE(IsGroupAutomaton({2, {"a"}, {{0, 0}}, 0, {true, false}}));
}

TEST(PointAction, FindsTheSmallActions) {
  // Points, and the swaps of the letter that needs most. Minimal degrees of permutation representations; Q8 has none
  // below 8.
  const std::tuple<const char*, int, int> expected[] = {
      {"S3", 3, 2},  {"S4", 4, 3},   {"A5", 5, 4},    {"S5", 5, 4}, {"Z6", 5, 3},
      {"Z12", 7, 5}, {"Z60", 12, 9}, {"S3xZ2", 5, 2}, {"Q8", 8, 6}, {"PSL(2,7)", 7, 6}};
  for (const auto& [name, points, most] : expected) {
    SCOPED_TRACE(name);
    const LetterGroup group = *FindLetterGroup(Cayley(name), 4000);
    const PointAction action = FindPointAction(group, GroupCost::kDegree);
    EXPECT_EQ(action.points, points);
    const PointAction cheap = FindPointAction(group, GroupCost::kReflections);
    const std::vector<int> swaps = Swaps(cheap);
    EXPECT_LE(*std::max_element(swaps.begin(), swaps.end()), most);
    // Faithful: as many different products as elements.
    std::set<Permutation> products = {IdentityPermutation(cheap.points)};
    std::vector<Permutation> reached(products.begin(), products.end());
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const Permutation& letter : cheap.letters) {
        Permutation product = Multiply(letter, reached[i]);
        if (products.insert(product).second) reached.push_back(std::move(product));
      }
    }
    EXPECT_EQ(static_cast<int>(products.size()), group.order());
  }
}

TEST(CyclicPowers, OfCyclicGroupsAlone) {
  const LetterGroup group = *FindLetterGroup(Cayley("Z3xZ4"), 100);
  const std::vector<int> power_of = *CyclicPowers(group);
  for (int g = 0; g < group.order(); ++g) {
    for (const std::vector<int>& times : group.times) {
      EXPECT_EQ(power_of[times[g]], (power_of[g] + power_of[times[0]]) % 12);
    }
  }
  EXPECT_FALSE(CyclicPowers(*FindLetterGroup(Cayley("Z2xZ2"), 100)).has_value());
  EXPECT_FALSE(CyclicPowers(*FindLetterGroup(Cayley("S3"), 100)).has_value());
}

}  // namespace
}  // namespace lrnn
