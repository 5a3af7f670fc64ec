#include "lrnn/automata/finite_group.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

constexpr int kMaxTableOrder = 2048;              // a table of 16 MB
constexpr int64_t kMaxPoints = int64_t{1} << 26;  // of all elements: 256 MB

}  // namespace

FiniteGroup::FiniteGroup(PermutationGroup group, int max_order) : group_(std::move(group)) {
  LRNN_CHECK(group_.degree >= 1 && !group_.generators.empty(),
             "[finite_group] expected at least one point and one generator");
  for (const Permutation& generator : group_.generators) {
    LRNN_CHECK(static_cast<int>(generator.size()) == group_.degree && IsPermutation(generator),
               "[finite_group] expected generators that permute {} points, got ({})", group_.degree,
               fmt::join(generator, " "));
  }

  // Every element is a product of generators: breadth first from the identity.
  const int64_t limit = std::min<int64_t>(max_order, kMaxPoints / group_.degree);
  std::set<Permutation> found = {IdentityPermutation(group_.degree)};
  std::vector<const Permutation*> queue = {&*found.begin()};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const Permutation& generator : group_.generators) {
      const auto [place, is_new] = found.insert(lrnn::Multiply(*queue[i], generator));
      if (is_new) queue.push_back(&*place);
    }
    LRNN_CHECK(static_cast<int64_t>(queue.size()) <= limit,
               "[finite_group] the group {} has more than {} elements, the largest number allowed", name(), limit);
  }
  elements_.reserve(found.size());
  while (!found.empty()) elements_.push_back(std::move(found.extract(found.begin()).value()));

  for (const Permutation& generator : group_.generators) {
    generators_.push_back(Find(generator));
    std::vector<int>& row = times_generator_.emplace_back();
    for (const Permutation& element : elements_) row.push_back(Find(lrnn::Multiply(element, generator)));
  }
  if (order() <= kMaxTableOrder) FillTable();
}

// a * (b * generator) = (a * b) * generator: each column follows from one nearer to the identity.
void FiniteGroup::FillTable() {
  const size_t n = elements_.size();
  table_.resize(n * n);
  for (size_t a = 0; a < n; ++a) table_[a * n] = static_cast<int>(a);
  std::vector<bool> is_filled(n, false);
  is_filled[0] = true;
  std::vector<int> queue = {0};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const std::vector<int>& times_generator : times_generator_) {
      const int b = times_generator[queue[i]];
      if (is_filled[b]) continue;
      is_filled[b] = true;
      queue.push_back(b);
      for (size_t a = 0; a < n; ++a) table_[a * n + b] = times_generator[table_[a * n + queue[i]]];
    }
  }
}

int FiniteGroup::Find(const Permutation& p) const {
  const auto place = std::lower_bound(elements_.begin(), elements_.end(), p);
  return place != elements_.end() && *place == p ? static_cast<int>(place - elements_.begin()) : -1;
}

int FiniteGroup::Multiply(int a, int b) const {
  if (!table_.empty()) return table_[static_cast<size_t>(a) * elements_.size() + b];
  return Find(lrnn::Multiply(elements_[a], elements_[b]));
}

Dfa CayleyAutomaton(const FiniteGroup& group, CayleyLetters letters) {
  Dfa dfa;
  dfa.num_states = group.order();
  dfa.accepting.assign(group.order(), false);
  dfa.accepting[0] = true;
  const auto add = [&](int letter) {
    dfa.letters.push_back(CycleNotation(group.element(letter)));
    std::vector<int>& row = dfa.next.emplace_back();
    for (int state = 0; state < group.order(); ++state) row.push_back(group.Multiply(state, letter));
  };
  if (letters == CayleyLetters::kGenerators) {
    for (const int generator : group.generators()) add(generator);
  } else {
    LRNN_CHECK(int64_t{group.order()} * group.order() <= kMaxPoints,
               "[cayley_automaton] expected a group of at most {} elements to make them all letters, got {}", 8192,
               group.order());
    for (int element = 0; element < group.order(); ++element) add(element);
  }
  return dfa;
}

Dfa ActionAutomaton(const PermutationGroup& group) {
  Dfa dfa;
  dfa.num_states = group.degree;
  dfa.accepting.assign(group.degree, false);
  dfa.accepting[0] = true;
  for (const Permutation& generator : group.generators) {
    dfa.letters.push_back(CycleNotation(generator));
    dfa.next.push_back(generator);
  }
  return dfa;
}

bool IsClosed(const std::vector<Permutation>& permutations) {
  const std::set<Permutation> members(permutations.begin(), permutations.end());
  for (const Permutation& a : members) {
    for (const Permutation& b : members) {
      if (!members.contains(Multiply(a, b))) return false;
    }
  }
  return !members.empty();
}

}  // namespace lrnn
