#include "lrnn/automata/monoid.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lrnn/automata/scc.h"

namespace lrnn {
namespace {

constexpr size_t kMaxNumbers = size_t{1} << 26;  // 256 MB of 32-bit numbers
constexpr int kMaxPairStates = 1024;

using States = std::u32string;  // a list of states that can be hashed

States AllStates(const Dfa& dfa) {
  States states(dfa.num_states, 0);
  std::iota(states.begin(), states.end(), char32_t{0});
  return states;
}

States Moved(States states, const std::vector<int>& next) {
  for (char32_t& state : states) state = static_cast<char32_t>(next[state]);
  return states;
}

// Whether some word exchanges two states: (p, q) and (q, p) reach each other in the graph of pairs.
bool ExchangesTwoStates(const Dfa& dfa) {
  const int n = dfa.num_states;
  const std::vector<int> component =
      StronglyConnectedComponents(n * n, dfa.num_letters(), [&dfa, n](int pair, int letter) {
        const int p = dfa.next[letter][pair / n];
        const int q = dfa.next[letter][pair % n];
        return p == q ? -1 : p * n + q;
      });
  for (int p = 0; p < n; ++p) {
    for (int q = 0; q < p; ++q) {
      if (component[p * n + q] == component[q * n + p]) return true;
    }
  }
  return false;
}

// The sets Q.w of all words w and the arrows between those of equal size.
struct Images {
  std::vector<States> sets;            // each sorted
  std::vector<std::vector<int>> next;  // [letter][set]: the image, or -1 when it is smaller
  bool is_complete = true;             // the limits were not reached

  Images(const Dfa& dfa, int64_t max_images) : next(dfa.num_letters()) {
    std::unordered_map<States, int> numbers;
    sets.push_back(AllStates(dfa));
    numbers.emplace(sets[0], 0);
    size_t stored = sets[0].size();
    for (size_t i = 0; i < sets.size(); ++i) {
      for (int letter = 0; letter < dfa.num_letters(); ++letter) {
        States image = Moved(sets[i], dfa.next[letter]);
        std::sort(image.begin(), image.end());
        image.erase(std::unique(image.begin(), image.end()), image.end());
        const auto [place, is_new] = numbers.emplace(image, static_cast<int>(sets.size()));
        next[letter].push_back(image.size() == sets[i].size() ? place->second : -1);
        if (!is_new) continue;
        stored += 2 * image.size();
        sets.push_back(std::move(image));
        if (static_cast<int64_t>(sets.size()) > max_images || stored > kMaxNumbers) {
          is_complete = false;
          return;
        }
      }
    }
  }
};

}  // namespace

std::optional<int64_t> TransitionMonoidSize(const Dfa& dfa, int64_t max_size) {
  std::unordered_set<States> maps = {AllStates(dfa)};
  std::vector<const States*> queue = {&*maps.begin()};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const std::vector<int>& next : dfa.next) {
      const auto [place, is_new] = maps.insert(Moved(*queue[i], next));
      if (is_new) queue.push_back(&*place);
    }
    if (static_cast<int64_t>(queue.size()) > max_size || queue.size() * dfa.num_states > kMaxNumbers) {
      return std::nullopt;
    }
  }
  return static_cast<int64_t>(queue.size());
}

std::optional<bool> IsAperiodic(const Dfa& dfa, int64_t max_images) {
  if (dfa.num_states <= kMaxPairStates && ExchangesTwoStates(dfa)) return false;
  const Images images(dfa, max_images);
  if (!images.is_complete) return std::nullopt;
  const int sets = static_cast<int>(images.sets.size());
  const std::vector<int> component = StronglyConnectedComponents(
      sets, dfa.num_letters(), [&images](int set, int letter) { return images.next[letter][set]; });

  // Walk through each component from one of its sets P, moving the tuple of P's states along. The words that map P to
  // itself permute it; they all fix it point by point if and only if every way to a set brings the same tuple there
  // (Schreier's lemma: way, arrow, way back generate the group).
  std::vector<States> tuples(sets);
  for (int root = 0; root < sets; ++root) {
    if (!tuples[root].empty()) continue;
    tuples[root] = images.sets[root];
    std::vector<int> queue = {root};
    for (size_t i = 0; i < queue.size(); ++i) {
      for (int letter = 0; letter < dfa.num_letters(); ++letter) {
        const int to = images.next[letter][queue[i]];
        if (to < 0 || component[to] != component[root]) continue;
        States moved = Moved(tuples[queue[i]], dfa.next[letter]);
        if (tuples[to].empty()) {
          tuples[to] = std::move(moved);
          queue.push_back(to);
        } else if (tuples[to] != moved) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace lrnn
