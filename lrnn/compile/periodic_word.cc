#include "lrnn/compile/periodic_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lrnn {
namespace {

// The states that the word, repeated, leads through from `first`, which it leads back to.
std::vector<int> CycleOf(const Dfa& dfa, const std::vector<int>& word, int first) {
  std::vector<int> cycle;
  int q = first;
  do {
    cycle.push_back(q);
    q = dfa.RunFrom(q, word);
  } while (q != first);
  return cycle;
}

}  // namespace

std::optional<PeriodicWord> FindPeriodicLetter(const Dfa& dfa) {
  for (int s = 0; s < dfa.num_letters(); ++s) {
    std::vector<int> walk_of(dfa.num_states, -1);  // [state]: the walk that came there first
    for (int start = 0; start < dfa.num_states; ++start) {
      int q = start;
      for (; walk_of[q] < 0; q = dfa.next[s][q]) walk_of[q] = start;
      if (walk_of[q] == start && dfa.next[s][q] != q) return PeriodicWord{{s}, CycleOf(dfa, {s}, q)};
    }
  }
  return std::nullopt;
}

std::optional<PeriodicWord> FindPeriodicWord(const Dfa& dfa, const std::vector<int>& states, int64_t max_tuples) {
  struct Step {
    int from, letter;
  };
  std::map<std::vector<int>, int> numbers = {{states, 0}};
  std::vector<const std::vector<int>*> tuples = {&numbers.begin()->first};
  std::vector<Step> steps = {{-1, -1}};
  std::vector<int> sorted = states;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < tuples.size() && static_cast<int64_t>(tuples.size()) <= max_tuples; ++i) {
    for (int s = 0; s < dfa.num_letters(); ++s) {
      std::vector<int> image;
      for (const int q : *tuples[i]) image.push_back(dfa.next[s][q]);
      std::vector<int> set = image;
      std::sort(set.begin(), set.end());
      if (std::adjacent_find(set.begin(), set.end()) != set.end()) continue;  // two states became one
      const auto [entry, is_new] = numbers.emplace(image, static_cast<int>(tuples.size()));
      if (!is_new) continue;
      tuples.push_back(&entry->first);
      steps.push_back({static_cast<int>(i), s});
      if (set != sorted) continue;
      // The same states in another order.
      PeriodicWord found;
      for (int at = static_cast<int>(tuples.size()) - 1; at > 0; at = steps[at].from) {
        found.word.push_back(steps[at].letter);
      }
      std::reverse(found.word.begin(), found.word.end());
      const auto moved = std::mismatch(states.begin(), states.end(), image.begin()).first;
      found.cycle = CycleOf(dfa, found.word, *moved);
      return found;
    }
  }
  return std::nullopt;
}

std::string Describe(const PeriodicWord& found, const Dfa& dfa) {
  constexpr size_t kLetters = 40, kStates = 12, kName = 60;
  const bool has_names =
      std::any_of(found.word.begin(), found.word.end(), [&](int letter) { return dfa.letters[letter].size() > 1; });
  std::string word;
  for (size_t i = 0; i < std::min(found.word.size(), kLetters); ++i) {
    if (has_names && i > 0) word += ' ';
    const std::string& letter = dfa.letters[found.word[i]];
    word += letter.size() <= kName ? letter : letter.substr(0, kName) + "...";
  }
  if (found.word.size() > kLetters) word += fmt::format("... ({} letters)", found.word.size());
  std::string cycle;
  for (size_t i = 0; i < std::min(found.cycle.size(), kStates); ++i) cycle += fmt::format("{} to ", found.cycle[i]);
  if (found.cycle.size() > kStates) cycle += fmt::format("... ({} states) ... to ", found.cycle.size());
  return fmt::format("the word '{}' takes state {}{}", word, cycle, found.cycle[0]);
}

}  // namespace lrnn
