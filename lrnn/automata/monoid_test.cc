#include "lrnn/automata/monoid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lrnn/automata/random_dfa.h"

namespace lrnn {
namespace {

Dfa FromMaps(std::vector<std::vector<int>> maps) {
  Dfa dfa{static_cast<int>(maps[0].size()), {}, maps, 0, {}};
  for (size_t i = 0; i < maps.size(); ++i) dfa.letters.push_back(std::to_string(i));
  dfa.accepting.assign(dfa.num_states, false);
  dfa.accepting[0] = true;
  return dfa;
}

// All maps of all words, by brute force.
std::set<std::vector<int>> Monoid(const Dfa& dfa) {
  std::vector<int> identity;
  for (int q = 0; q < dfa.num_states; ++q) identity.push_back(q);
  std::set<std::vector<int>> maps = {identity};
  std::vector<std::vector<int>> queue = {identity};
  while (!queue.empty()) {
    const std::vector<int> map = queue.back();
    queue.pop_back();
    for (const std::vector<int>& next : dfa.next) {
      std::vector<int> longer;
      for (const int q : map) longer.push_back(next[q]);
      if (maps.insert(longer).second) queue.push_back(longer);
    }
  }
  return maps;
}

// m^n = m^(n+1) for n the number of states.
bool HasNoGroup(const std::vector<int>& map) {
  std::vector<int> power = map;
  for (size_t i = 1; i < map.size(); ++i) {
    for (int& q : power) q = map[q];
  }
  for (const int q : power) {
    if (map[q] != q) return false;
  }
  return true;
}

TEST(Monoid, SizesOfTheBooks) {
  // Full transformation monoids T_n have n^n maps, symmetric groups n!.
  EXPECT_EQ(TransitionMonoidSize(FromMaps({{1, 0, 2}, {1, 2, 0}, {0, 0, 2}})), 27);
  EXPECT_EQ(TransitionMonoidSize(FromMaps({{1, 0, 2, 3}, {1, 2, 3, 0}, {0, 0, 2, 3}})), 256);
  EXPECT_EQ(TransitionMonoidSize(FromMaps({{1, 0, 2, 3, 4}, {1, 2, 3, 4, 0}})), 120);
  // (ab)*: 1, a, b, ab, ba, 0.
  EXPECT_EQ(TransitionMonoidSize(FromMaps({{1, 2, 2}, {2, 0, 2}})), 6);
  EXPECT_EQ(TransitionMonoidSize(FromMaps({{0}})), 1);
}

TEST(Monoid, TheLimitGivesNothing) {
  const Dfa dfa = FromMaps({{1, 0, 2}, {1, 2, 0}, {0, 0, 2}});
  EXPECT_EQ(TransitionMonoidSize(dfa, 27), 27);
  EXPECT_EQ(TransitionMonoidSize(dfa, 26), std::nullopt);
}

TEST(Monoid, RandomAutomataAgreeWithBruteForce) {
  int aperiodic = 0;
  int cycles_but_no_exchange = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng(seed, 4);
    const Dfa dfa = RandomDfa(rng, 1 + static_cast<int>(rng.Below(5)), 1 + static_cast<int>(rng.Below(2)));
    const auto maps = Monoid(dfa);
    ASSERT_EQ(TransitionMonoidSize(dfa), static_cast<int64_t>(maps.size())) << seed;
    const bool expected = std::all_of(maps.begin(), maps.end(), HasNoGroup);
    ASSERT_EQ(IsAperiodic(dfa), expected) << seed;
    aperiodic += expected;
    const bool exchanges = std::any_of(maps.begin(), maps.end(), [](const std::vector<int>& map) {
      for (size_t q = 0; q < map.size(); ++q) {
        if (map[q] != static_cast<int>(q) && map[map[q]] == static_cast<int>(q)) return true;
      }
      return false;
    });
    cycles_but_no_exchange += !expected && !exchanges;
  }
  EXPECT_GT(aperiodic, 100);
  EXPECT_GT(cycles_but_no_exchange, 5);  // so that the search through images was needed
}

TEST(IsAperiodic, KnownLanguages) {
  EXPECT_EQ(IsAperiodic(FromMaps({{1, 2, 2}, {2, 0, 2}})), true);   // (ab)*
  EXPECT_EQ(IsAperiodic(FromMaps({{1, 0}})), false);                // (aa)*
  EXPECT_EQ(IsAperiodic(FromMaps({{1, 2, 0}, {0, 0, 0}})), false);  // a counts to 3
  EXPECT_EQ(IsAperiodic(FromMaps({{1, 2, 2}, {0, 0, 1}})), true);   // up and down
}

// A counter of n states that stops at both ends is aperiodic; its monoid is large, its images are intervals.
TEST(IsAperiodic, ManyStates) {
  constexpr int kStates = 100;
  std::vector<int> up, down;
  for (int q = 0; q < kStates; ++q) {
    up.push_back(std::min(q + 1, kStates - 1));
    down.push_back(std::max(q - 1, 0));
  }
  const Dfa counter = FromMaps({up, down});
  EXPECT_EQ(IsAperiodic(counter), true);
  EXPECT_EQ(IsAperiodic(counter, 10), std::nullopt);
  Rng rng(5, 0);
  EXPECT_EQ(IsAperiodic(RandomDfa(rng, 200, 2)), false);  // found by a pair: its images are far too many
}

}  // namespace
}  // namespace lrnn
