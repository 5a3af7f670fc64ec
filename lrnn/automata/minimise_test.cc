#include "lrnn/automata/minimise.h"

#include <gtest/gtest.h>

#include <map>

#include "lrnn/automata/operations.h"
#include "lrnn/automata/random_dfa.h"
#include "lrnn/base/timer.h"

namespace lrnn {
namespace {

bool IsEqual(const Dfa& a, const Dfa& b) {
  return a.num_states == b.num_states && a.letters == b.letters && a.next == b.next && a.start == b.start &&
         a.accepting == b.accepting;
}

// Moore's refinement: the number of classes of states that no word tells apart.
int CountDistinguishable(const Dfa& dfa) {
  std::vector<int> group(dfa.accepting.begin(), dfa.accepting.end());
  size_t groups = 0;
  while (true) {
    std::map<std::vector<int>, int> signatures;
    std::vector<int> refined;
    for (int q = 0; q < dfa.num_states; ++q) {
      std::vector<int> signature = {group[q]};
      for (const std::vector<int>& next : dfa.next) signature.push_back(group[next[q]]);
      refined.push_back(signatures.emplace(signature, static_cast<int>(signatures.size())).first->second);
    }
    if (signatures.size() == groups) return static_cast<int>(groups);
    groups = signatures.size();
    group = refined;
  }
}

// The same automaton with states renamed and unreachable ones added.
Dfa Disguised(const Dfa& dfa, Rng& rng) {
  const int extra = static_cast<int>(rng.Below(3));
  const int n = dfa.num_states + extra;
  std::vector<int> name(n);
  for (int i = 0; i < n; ++i) {
    const int j = static_cast<int>(rng.Below(i + 1));
    name[i] = name[j];
    name[j] = i;
  }
  Dfa result{
      n, dfa.letters, std::vector<std::vector<int>>(dfa.letters.size(), std::vector<int>(n)), name[dfa.start], {}};
  result.accepting.resize(n);
  for (int q = 0; q < n; ++q) {
    result.accepting[name[q]] = q < dfa.num_states && dfa.accepting[q];
    for (int letter = 0; letter < dfa.num_letters(); ++letter) {
      result.next[letter][name[q]] = name[q < dfa.num_states ? dfa.next[letter][q] : static_cast<int>(rng.Below(n))];
    }
  }
  return result;
}

TEST(Trim, KeepsWhatCanBeReachedInBreadthFirstOrder) {
  const Dfa dfa{4, {"a", "b"}, {{0, 3, 2, 0}, {1, 1, 2, 3}}, 3, {true, false, true, false}};
  const Dfa expected{3, {"a", "b"}, {{1, 1, 0}, {0, 2, 2}}, 0, {false, true, false}};
  EXPECT_TRUE(IsEqual(Trim(dfa), expected));
}

TEST(Minimise, RandomAutomata) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed, 1);
    const Dfa dfa = RandomDfa(rng, 1 + static_cast<int>(rng.Below(9)), 1 + static_cast<int>(rng.Below(3)));
    const Dfa minimal = Minimise(dfa);
    ASSERT_NO_THROW(Validate(minimal));
    EXPECT_TRUE(Equivalent(dfa, minimal)) << seed;
    EXPECT_EQ(minimal.num_states, CountDistinguishable(dfa)) << seed;
    EXPECT_TRUE(IsEqual(Minimise(Disguised(dfa, rng)), minimal)) << seed;
  }
}

TEST(Minimise, ALanguageOfAllOrNoWordsHasOneState) {
  Rng rng(7, 0);
  Dfa dfa = RandomDfa(rng, 20, 2);
  dfa.accepting.assign(dfa.num_states, true);
  EXPECT_EQ(Minimise(dfa).num_states, 1);
  EXPECT_TRUE(Minimise(dfa).accepting[0]);
  EXPECT_FALSE(Minimise(Complement(dfa)).accepting[0]);
}

// Counting to n is minimal already, and slow for refinements that are not Hopcroft's.
TEST(Minimise, LargeAutomataAreFast) {
  constexpr int kStates = 100'000;
  Dfa ring{kStates, {"a"}, {std::vector<int>(kStates)}, 0, std::vector<bool>(kStates, false)};
  for (int q = 0; q < kStates; ++q) ring.next[0][q] = (q + 1) % kStates;
  ring.accepting[0] = true;
  const Timer timer;
  EXPECT_EQ(Minimise(ring).num_states, kStates);
  EXPECT_LT(timer.Seconds(), 10);
  for (int q = 0; q < kStates; q += 8) ring.accepting[q] = true;
  EXPECT_EQ(Minimise(ring).num_states, 8);
}

}  // namespace
}  // namespace lrnn
