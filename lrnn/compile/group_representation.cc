#include "lrnn/compile/group_representation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "lrnn/base/rng.h"

namespace lrnn {
namespace {

using Members = std::vector<bool>;  // of a subgroup, by element

int Count(const Members& members) { return static_cast<int>(std::count(members.begin(), members.end(), true)); }

// An action on cosets, and what it costs.
struct Candidate {
  int points = 0;
  std::vector<Permutation> letters;
};

std::vector<int> SwapsOf(const std::vector<Permutation>& letters) {
  std::vector<int> swaps;
  for (const Permutation& letter : letters) swaps.push_back(SwapsNeeded(letter));
  return swaps;
}

// Compared first by what was asked for.
using Price = std::tuple<int, int, int>;

Price PriceOf(GroupCost cost, const std::vector<int>& swaps, int points) {
  const int sum = std::accumulate(swaps.begin(), swaps.end(), 0);
  const int most = *std::max_element(swaps.begin(), swaps.end());
  return cost == GroupCost::kReflections ? Price(sum, most, points) : Price(points, sum, most);
}

class ActionSearch {
 public:
  ActionSearch(const LetterGroup& group, GroupCost cost, uint64_t seed)
      : group_(group), order_(group.order()), cost_(cost), rng_(seed, 0) {
    MakeTable();
  }

  PointAction Run() {
    TryStabilisers();
    TryRandomSubgroups();
    return Combine();
  }

 private:
  // product_[a][b]: a, then b. Each b is an earlier element followed by a letter.
  void MakeTable() {
    product_.assign(order_, std::vector<int>(order_, -1));
    std::vector<int> reached = {0};
    std::vector<bool> done(order_, false);
    done[0] = true;
    for (int a = 0; a < order_; ++a) product_[a][0] = a;
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const std::vector<int>& times : group_.times) {
        const int next = times[reached[i]];
        if (done[next]) continue;
        done[next] = true;
        reached.push_back(next);
        for (int a = 0; a < order_; ++a) product_[a][next] = times[product_[a][reached[i]]];
      }
    }
  }

  Members Generate(const std::vector<int>& generators) const {
    Members members(order_, false);
    members[0] = true;
    std::vector<int> reached = {0};
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const int generator : generators) {
        const int next = product_[reached[i]][generator];
        if (members[next]) continue;
        members[next] = true;
        reached.push_back(next);
      }
    }
    return members;
  }

  void TryStabilisers() {
    for (int a = 0; a < order_; ++a) {
      // g is in the stabiliser of the state of a if a g leads to the same state.
      if (std::find(group_.state_of.begin(), group_.state_of.begin() + a, group_.state_of[a]) !=
          group_.state_of.begin() + a) {
        continue;
      }
      Members members(order_, false);
      for (int g = 0; g < order_; ++g) members[g] = group_.state_of[product_[a][g]] == group_.state_of[a];
      Try(members);
    }
  }

  // One to three random elements, then one more and one more until they generate the whole group.
  void TryRandomSubgroups() {
    const int tries = order_ <= 200 ? 300 : order_ <= 1000 ? 200 : 100;
    for (int i = 0; i < tries; ++i) {
      std::vector<int> generators;
      for (int j = 0; j <= i % 3; ++j) generators.push_back(static_cast<int>(rng_.Below(order_)));
      for (Members members = Generate(generators); Count(members) < order_; members = Generate(generators)) {
        Try(members);
        generators.push_back(static_cast<int>(rng_.Below(order_)));
      }
    }
  }

  void Try(const Members& members) {
    if (!tried_.insert(members).second) return;
    const int size = Count(members);
    if (size == order_) return;
    // Right cosets H a.
    std::vector<int> coset_of(order_, -1), representative;
    for (int a = 0; a < order_; ++a) {
      if (coset_of[a] >= 0) continue;
      for (int h = 0; h < order_; ++h) {
        if (members[h]) coset_of[product_[h][a]] = static_cast<int>(representative.size());
      }
      representative.push_back(a);
    }
    Candidate candidate;
    candidate.points = static_cast<int>(representative.size());
    for (const std::vector<int>& times : group_.times) {
      Permutation& letter = candidate.letters.emplace_back();
      for (const int a : representative) letter.push_back(coset_of[times[a]]);
    }
    Members kernel(order_, false);
    for (int g = 0; g < order_; ++g) {
      kernel[g] = std::all_of(representative.begin(), representative.end(),
                              [&](int a) { return coset_of[product_[a][g]] == coset_of[a]; });
    }
    Candidate& best = by_kernel_[kernel];
    const auto price = [&](const Candidate& c) { return PriceOf(cost_, SwapsOf(c.letters), c.points); };
    if (best.points == 0 || price(candidate) < price(best)) best = std::move(candidate);
  }

  struct Path {
    Price price;
    std::vector<int> swaps;  // of each letter
    int points = 0;
    std::vector<const Candidate*> orbits;
    bool done = false;
  };

  PointAction Combine() const {
    std::map<Members, Path> paths;  // by the kernel so far
    Path start;
    start.swaps.assign(group_.times.size(), 0);
    start.price = PriceOf(cost_, start.swaps, 0);
    paths[Members(order_, true)] = start;
    Members trivial(order_, false);
    trivial[0] = true;
    // Few normal subgroups: the cheapest open one is found by looking at all.
    while (true) {
      auto cheapest = paths.end();
      for (auto path = paths.begin(); path != paths.end(); ++path) {
        if (!path->second.done && (cheapest == paths.end() || path->second.price < cheapest->second.price)) {
          cheapest = path;
        }
      }
      cheapest->second.done = true;
      const Path from = cheapest->second;
      const Members kernel = cheapest->first;
      if (kernel == trivial) return SideBySide(from.orbits);
      for (const auto& [other, candidate] : by_kernel_) {
        Members both(order_);
        for (int g = 0; g < order_; ++g) both[g] = kernel[g] && other[g];
        if (both == kernel) continue;
        Path next = from;
        next.done = false;
        const std::vector<int> swaps = SwapsOf(candidate.letters);
        for (size_t s = 0; s < swaps.size(); ++s) next.swaps[s] += swaps[s];
        next.points += candidate.points;
        next.orbits.push_back(&candidate);
        next.price = PriceOf(cost_, next.swaps, next.points);
        const auto [entry, is_new] = paths.emplace(both, next);
        if (!is_new && !entry->second.done && next.price < entry->second.price) entry->second = next;
      }
    }
  }

  PointAction SideBySide(const std::vector<const Candidate*>& orbits) const {
    PointAction action;
    action.letters.resize(group_.times.size());
    for (const Candidate* orbit : orbits) {
      for (size_t s = 0; s < action.letters.size(); ++s) {
        for (const int point : orbit->letters[s]) action.letters[s].push_back(action.points + point);
      }
      action.points += orbit->points;
    }
    return action;
  }

  const LetterGroup& group_;
  int order_;
  GroupCost cost_;
  Rng rng_;
  std::vector<std::vector<int>> product_;
  std::set<Members> tried_;
  std::map<Members, Candidate> by_kernel_;
};

}  // namespace

bool IsGroupAutomaton(const Dfa& dfa) {
  return std::all_of(dfa.next.begin(), dfa.next.end(), [](const auto& row) { return IsPermutation(row); });
}

std::optional<LetterGroup> FindLetterGroup(const Dfa& dfa, int64_t max_order) {
  // The states that can be reached: the orbit of the start.
  std::vector<int> orbit = {dfa.start}, place(dfa.num_states, -1);
  place[dfa.start] = 0;
  for (size_t i = 0; i < orbit.size(); ++i) {
    for (const std::vector<int>& row : dfa.next) {
      if (place[row[orbit[i]]] >= 0) continue;
      place[row[orbit[i]]] = static_cast<int>(orbit.size());
      orbit.push_back(row[orbit[i]]);
    }
  }
  LetterGroup group;
  group.times.resize(dfa.num_letters());
  std::map<Permutation, int> numbers;  // as maps of the orbit's places
  std::vector<const Permutation*> elements;
  const auto number = [&](Permutation element) {
    const auto [entry, is_new] = numbers.emplace(std::move(element), static_cast<int>(elements.size()));
    if (is_new) {
      elements.push_back(&entry->first);
      group.state_of.push_back(orbit[entry->first[0]]);
    }
    return entry->second;
  };
  number(IdentityPermutation(static_cast<int>(orbit.size())));
  for (size_t i = 0; i < elements.size(); ++i) {
    for (int s = 0; s < dfa.num_letters(); ++s) {
      Permutation product;
      product.reserve(orbit.size());
      for (const int q : *elements[i]) product.push_back(place[dfa.next[s][orbit[q]]]);
      group.times[s].push_back(number(std::move(product)));
    }
    if (static_cast<int64_t>(elements.size()) > max_order) return std::nullopt;
  }
  return group;
}

PointAction FindPointAction(const LetterGroup& group, GroupCost cost, uint64_t seed) {
  return ActionSearch(group, cost, seed).Run();
}

std::optional<std::vector<int>> CyclicPowers(const LetterGroup& group) {
  const int order = group.order();
  // A product of letters for each element: the letter and the element it was reached from.
  std::vector<int> from(order, -1), letter(order, -1), reached = {0};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (size_t s = 0; s < group.times.size(); ++s) {
      const int next = group.times[s][reached[i]];
      if (next == 0 || from[next] >= 0) continue;
      from[next] = reached[i];
      letter[next] = static_cast<int>(s);
      reached.push_back(next);
    }
  }
  const auto times = [&](int a, int b) {
    std::vector<int> word;
    for (; b != 0; b = from[b]) word.push_back(letter[b]);
    for (auto s = word.rbegin(); s != word.rend(); ++s) a = group.times[*s][a];
    return a;
  };
  for (int generator = 0; generator < order; ++generator) {
    std::vector<int> power_of(order, -1);
    int element = 0, power = 0;
    for (; power_of[element] < 0; element = times(element, generator)) power_of[element] = power++;
    if (power == order) return power_of;
  }
  return std::nullopt;
}

}  // namespace lrnn
