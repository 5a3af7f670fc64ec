#include "lrnn/compile/chain_system.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

class SubsetChains : public ChainSystem {
 public:
  int Level(const StateSet& set) const override { return set.Size() - 1; }

  StateSet Pick(const StateSet& set, const StateSet& part) const override {
    StateSet child = set;
    child.Erase(set.Without(part).Smallest());
    return child;
  }
};

class ImageChains : public ChainSystem {
 public:
  // Returns false when there are too many images.
  bool Build(const Dfa& dfa, bool classical_height, int64_t max_sets) {
    Add(StateSet::All(dfa.num_states));
    for (size_t i = 0; i < sets_.size(); ++i) {
      images_.emplace_back(dfa.num_letters());
      for (int s = 0; s < dfa.num_letters(); ++s) images_[i][s] = Add(sets_[i].Image(dfa.next[s]));
      if (static_cast<int64_t>(sets_.size()) > max_sets) return false;
    }
    for (int q = 0; q < dfa.num_states; ++q) Add(StateSet::Single(q));
    images_.resize(sets_.size());  // singletons that are no image need none: their level is 0
    for (const StateSet& set : sets_) sizes_.push_back(set.Size());
    by_size_.resize(dfa.num_states + 1);
    for (size_t i = 0; i < sets_.size(); ++i) by_size_[sizes_[i]].push_back(static_cast<int>(i));
    FindLevels(classical_height);
    return true;
  }

  int Level(const StateSet& set) const override { return levels_[ids_.at(set)]; }

  // Of the maximal subsets that contain the part, the one of the smallest level.
  StateSet Pick(const StateSet& set, const StateSet& part) const override {
    int best = -1;
    std::vector<int> maximal;
    for (int size = set.Size() - 1; size >= part.Size(); --size) {
      for (const int i : by_size_[size]) {
        if (!part.IsSubsetOf(sets_[i]) || !sets_[i].IsSubsetOf(set)) continue;
        if (std::any_of(maximal.begin(), maximal.end(), [&](int m) { return sets_[i].IsSubsetOf(sets_[m]); })) continue;
        maximal.push_back(i);
        if (best < 0 || levels_[i] < levels_[best]) best = i;
      }
    }
    return sets_[best];
  }

 private:
  int Add(const StateSet& set) {
    const auto [entry, is_new] = ids_.emplace(set, static_cast<int>(sets_.size()));
    if (is_new) sets_.push_back(set);
    return entry->second;
  }

  void FindLevels(bool classical_height) {
    levels_.assign(sets_.size(), 0);
    for (size_t size = 2; size < by_size_.size(); ++size) {
      const std::vector<int>& layer = by_size_[size];
      for (const int i : layer) {
        int highest = 0;
        for (size_t smaller = 1; smaller < size; ++smaller) {
          for (const int j : by_size_[smaller]) {
            if (levels_[j] > highest && sets_[j].IsSubsetOf(sets_[i])) highest = levels_[j];
          }
        }
        for (const int j : images_[i]) {
          if (sizes_[j] < sizes_[i]) highest = std::max(highest, levels_[j]);
        }
        levels_[i] = highest + 1;
      }
      const std::vector<int> component = classical_height ? Components(layer) : std::vector<int>(sets_.size(), 0);
      for (bool changed = true; changed;) {
        changed = false;
        for (const int i : layer) {
          for (const int j : images_[i]) {
            const int least = sizes_[j] < sizes_[i] ? 0 : levels_[j] + (component[i] != component[j]);
            if (least > levels_[i]) levels_[i] = least, changed = true;
          }
        }
      }
    }
  }

  // The strongly connected components of the images of one size (Tarjan's algorithm, without recursion).
  std::vector<int> Components(const std::vector<int>& layer) const {
    std::vector<int> order(sets_.size(), -1), low(sets_.size()), component(sets_.size(), -1);
    std::vector<int> open;                       // Tarjan's stack
    std::vector<std::pair<int, size_t>> visits;  // set, next letter
    int count = 0;
    for (const int root : layer) {
      if (order[root] >= 0) continue;
      visits.emplace_back(root, 0);
      while (!visits.empty()) {
        const auto [i, letter] = visits.back();
        if (letter == 0) {
          order[i] = low[i] = count++;
          open.push_back(i);
        }
        if (letter < images_[i].size()) {
          const int j = images_[i][letter];
          ++visits.back().second;
          if (sizes_[j] != sizes_[i]) continue;
          if (order[j] < 0) {
            visits.emplace_back(j, 0);
          } else if (component[j] < 0) {
            low[i] = std::min(low[i], order[j]);
          }
          continue;
        }
        visits.pop_back();
        if (!visits.empty()) low[visits.back().first] = std::min(low[visits.back().first], low[i]);
        if (low[i] != order[i]) continue;
        int member = -1;
        do {
          member = open.back();
          open.pop_back();
          component[member] = i;
        } while (member != i);
      }
    }
    return component;
  }

  std::vector<StateSet> sets_;
  std::unordered_map<StateSet, int, StateSet::Hash> ids_;
  std::vector<std::vector<int>> images_;   // [set][letter]
  std::vector<int> sizes_;                 // [set]
  std::vector<std::vector<int>> by_size_;  // [size]: sets
  std::vector<int> levels_;                // [set]
};

}  // namespace

std::unique_ptr<ChainSystem> MakeChainSystem(const Dfa& dfa, ChainKind kind, int64_t max_sets) {
  LRNN_CHECK(dfa.num_states <= StateSet::kMaxStates, "[MakeChainSystem] expected at most {} states, got {}",
             StateSet::kMaxStates, dfa.num_states);
  if (kind == ChainKind::kSubsets) return std::make_unique<SubsetChains>();
  auto chains = std::make_unique<ImageChains>();
  if (!chains->Build(dfa, kind == ChainKind::kHeight, max_sets)) return nullptr;
  return chains;
}

}  // namespace lrnn
