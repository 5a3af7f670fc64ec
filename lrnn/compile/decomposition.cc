#include "lrnn/compile/decomposition.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "lrnn/automata/permutation.h"
#include "lrnn/base/error.h"

namespace lrnn {
namespace {

enum class Action { kIdentity, kPermutation, kReset };

// What a letter does at a level when the chain before it goes through the set `from` and the chain after it through the
// set `to`, both of that level or lower ones.
struct Case {
  int level;  // 1: the lowest
  int from, to, letter;
  Action action = Action::kIdentity;
  int target = -1;   // of a reset: the child of `to`
  int context = -1;  // the number of its row in the tables
};

// Finds the sets, children and cases that words can lead to.
class Explorer {
 public:
  Explorer(const Dfa& dfa, const ChainSystem& chains, int64_t max_cases)
      : dfa_(dfa), chains_(chains), max_cases_(max_cases) {}

  bool Explore() {
    const int all = SetId(StateSet::All(dfa_.num_states));
    top_ = level_[all];
    cases_of_.resize(top_ + 1);
    for (int set = all; level_[set] > 0;) {
      const int child = Pick(set, StateSet::Single(dfa_.start));
      AddChild(set, child);
      set = child;
    }
    for (int s = 0; s < dfa_.num_letters(); ++s) AddCase(top_, all, all, s);
    while (!waiting_.empty()) {
      if (static_cast<int64_t>(cases_.size()) > max_cases_) return false;
      const auto [is_case, a, b] = waiting_.front();
      waiting_.pop_front();
      is_case ? VisitCase(a) : VisitChild(a, b);
    }
    return true;
  }

  const Dfa& dfa() const { return dfa_; }
  int top() const { return top_; }
  int num_sets() const { return static_cast<int>(sets_.size()); }
  const StateSet& set(int id) const { return sets_[id]; }
  int level(int id) const { return level_[id]; }
  const std::vector<int>& children(int id) const { return children_[id]; }
  std::vector<Case>& cases() { return cases_; }
  const std::vector<Case>& cases() const { return cases_; }

  int FindSet(const StateSet& set) const { return ids_.at(set); }
  int FindCase(int level, int from, int to, int letter) const { return cases_of_[level].at(Key(from, to, letter)); }

  // The set that `child` of the case's set `from` is taken into.
  int Target(const Case& c, int child) const {
    switch (c.action) {
      case Action::kIdentity:
        return c.to;
      case Action::kReset:
        return c.target;
      case Action::kPermutation:
        return FindSet(sets_[child].Image(dfa_.next[c.letter]));
    }
    return -1;
  }

 private:
  struct Event {
    bool is_case;  // a new case `a`, or a new child `b` of the set `a`
    int a, b;
  };

  static uint64_t Key(int from, int to, int letter) {
    return (static_cast<uint64_t>(from) << 40) | (static_cast<uint64_t>(to) << 16) | static_cast<uint64_t>(letter);
  }

  int SetId(const StateSet& set) {
    const auto [entry, is_new] = ids_.emplace(set, num_sets());
    if (is_new) {
      LRNN_CHECK(sets_.size() < (1u << 24), "[Decompose] more than 2^24 sets of states");
      sets_.push_back(set);
      level_.push_back(set.Size() == 1 ? 0 : chains_.Level(set));
      children_.emplace_back();
      cases_from_.emplace_back();
    }
    return entry->second;
  }

  int Pick(int set, const StateSet& part) {
    for (const int child : children_[set]) {
      if (part.IsSubsetOf(sets_[child])) return child;
    }
    return SetId(chains_.Pick(sets_[set], part));
  }

  void AddChild(int set, int child) {
    std::vector<int>& children = children_[set];
    if (std::find(children.begin(), children.end(), child) != children.end()) return;
    children.push_back(child);
    waiting_.push_back({false, set, child});
  }

  void AddCase(int level, int from, int to, int letter) {
    if (level == 0) return;  // singletons: `to` is the state after the letter
    const int id = static_cast<int>(cases_.size());
    if (!cases_of_[level].emplace(Key(from, to, letter), id).second) return;
    cases_.push_back({level, from, to, letter});
    waiting_.push_back({true, id, 0});
  }

  void VisitCase(int id) {
    Case& c = cases_[id];
    const StateSet image = sets_[c.from].Image(dfa_.next[c.letter]);
    if (level_[c.to] == c.level) {
      if (image == sets_[c.to]) {
        c.action = Action::kPermutation;
      } else {
        c.action = Action::kReset;
        c.target = Pick(c.to, image);
        AddChild(c.to, c.target);
      }
    }
    if (level_[c.from] < c.level) {
      AddCase(c.level - 1, c.from, c.action == Action::kReset ? c.target : c.to, c.letter);
      return;
    }
    cases_from_[c.from].push_back(id);
    const int from = c.from;  // `c` moves when cases are added
    for (size_t i = 0; i < children_[from].size(); ++i) AddCaseBelow(id, children_[from][i]);
  }

  void VisitChild(int set, int child) {
    for (const int id : cases_from_[set]) AddCaseBelow(id, child);
  }

  void AddCaseBelow(int id, int child) {
    const Case c = cases_[id];
    int to = c.action == Action::kReset ? c.target : c.to;
    if (c.action == Action::kPermutation) {
      to = SetId(sets_[child].Image(dfa_.next[c.letter]));
      AddChild(c.to, to);
    }
    AddCase(c.level - 1, child, to, c.letter);
  }

  const Dfa& dfa_;
  const ChainSystem& chains_;
  int64_t max_cases_;
  int top_ = 0;
  std::vector<StateSet> sets_;
  std::unordered_map<StateSet, int, StateSet::Hash> ids_;
  std::vector<int> level_;                    // [set]
  std::vector<std::vector<int>> children_;    // [set]: those in use, in the order they were found
  std::vector<std::vector<int>> cases_from_;  // [set]: visited cases of the set's own level
  std::vector<Case> cases_;
  std::vector<std::unordered_map<uint64_t, int>> cases_of_;  // [level]
  std::deque<Event> waiting_;
};

// Numbers the children of all sets of a level. Where a permutation leads from a set to another, their children are
// compared as if both were one set (the root, reached by the maps of the letters), so that as many permutations as
// possible become the identity.
class Labels {
 public:
  explicit Labels(const Explorer& explorer) : explorer_(explorer), label_of_(explorer.num_sets()) {
    count_.assign(explorer.top() + 1, 1);
    std::vector<std::vector<int>> links(explorer.num_sets());  // permutation cases that touch a set
    for (size_t id = 0; id < explorer.cases().size(); ++id) {
      const Case& c = explorer.cases()[id];
      if (c.action != Action::kPermutation) continue;
      links[c.from].push_back(static_cast<int>(id));
      if (c.to != c.from) links[c.to].push_back(static_cast<int>(id));
    }
    std::vector<bool> done(explorer.num_sets(), false);
    for (int root = 0; root < explorer.num_sets(); ++root) {
      if (done[root] || explorer.level(root) == 0) continue;
      NumberComponent(root, links, done);
    }
    StartAtZero();
  }

  int count(int level) const { return count_[level]; }
  int Of(int set, int child) const { return label_of_[set].at(child); }

 private:
  void NumberComponent(int root, const std::vector<std::vector<int>>& links, std::vector<bool>& done) {
    const int n = explorer_.dfa().num_states;
    std::map<int, std::vector<int>> to_root;  // bijections set -> root, as maps of states
    std::vector<int>& identity = to_root[root];
    for (int q = 0; q < n; ++q) identity.push_back(q);
    std::vector<int> component = {root};
    done[root] = true;
    for (size_t i = 0; i < component.size(); ++i) {
      const int set = component[i];
      for (const int id : links[set]) {
        const Case& c = explorer_.cases()[id];
        const int other = c.from == set ? c.to : c.from;
        if (done[other]) continue;
        done[other] = true;
        const std::vector<int>& here = to_root[set];
        std::vector<int> map(n, -1);
        const std::vector<int>& step = explorer_.dfa().next[c.letter];
        explorer_.set(c.from).ForEach([&](int q) {
          if (other == c.from) {
            map[q] = here[step[q]];
          } else {
            map[step[q]] = here[q];
          }
        });
        to_root[other] = std::move(map);
        component.push_back(other);
      }
    }
    std::unordered_map<StateSet, int, StateSet::Hash> numbers;
    for (const int set : component) {
      for (const int child : explorer_.children(set)) {
        const StateSet key = explorer_.set(child).Image(to_root[set]);
        label_of_[set][child] = numbers.emplace(key, static_cast<int>(numbers.size())).first->second;
      }
    }
    int& count = count_[explorer_.level(root)];
    count = std::max(count, static_cast<int>(numbers.size()));
    components_.push_back(std::move(component));
  }

  // The chain of the start state gets the label 0 at every level: two labels of a component change places.
  void StartAtZero() {
    std::vector<int> component_of(explorer_.num_sets(), -1);
    for (size_t i = 0; i < components_.size(); ++i) {
      for (const int set : components_[i]) component_of[set] = static_cast<int>(i);
    }
    for (int set = 0; explorer_.level(set) > 0;) {
      const int child = explorer_.children(set)[0];  // the first that was found
      const int first = Of(set, child);
      for (const int member : components_[component_of[set]]) {
        for (auto& [_, label] : label_of_[member]) {
          if (label == first) {
            label = 0;
          } else if (label == 0) {
            label = first;
          }
        }
      }
      set = child;
    }
  }

  const Explorer& explorer_;
  std::vector<int> count_;                              // [level]
  std::vector<std::unordered_map<int, int>> label_of_;  // [set]: child -> label
  std::vector<std::vector<int>> components_;
};

// Closes the paths of a partial injection (-1 where it is undefined) and fixes all other points: no completion to a
// permutation has more cycles.
void Complete(std::vector<int>& map) {
  const int n = static_cast<int>(map.size());
  std::vector<bool> hit(n, false);
  for (const int to : map) {
    if (to >= 0) hit[to] = true;
  }
  for (int start = 0; start < n; ++start) {
    if (hit[start]) continue;
    int end = start;
    while (map[end] >= 0) end = map[end];
    map[end] = start;
  }
}

std::vector<int> ActionMap(const Explorer& explorer, const Labels& labels, const Case& c) {
  if (c.action == Action::kReset) return std::vector<int>(labels.count(c.level), labels.Of(c.to, c.target));
  std::vector<int> map(labels.count(c.level), -1);
  if (c.action == Action::kPermutation) {
    for (const int child : explorer.children(c.from)) {
      map[labels.Of(c.from, child)] = labels.Of(c.to, explorer.Target(c, child));
    }
  }
  Complete(map);
  return map;
}

struct NumbersHash {
  size_t operator()(const std::vector<int>& numbers) const {
    uint64_t hash = numbers.size();
    for (const int number : numbers) {
      hash = (hash ^ static_cast<uint32_t>(number)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Cases that do the same and lead to the same contexts share a context; level by level from the lowest.
class TableBuilder {
 public:
  TableBuilder(Explorer& explorer, const Labels& labels) : explorer_(explorer), labels_(labels) {}

  Cascade Build() {
    std::vector<std::vector<int>> by_level(explorer_.top() + 1);
    for (size_t id = 0; id < explorer_.cases().size(); ++id) {
      by_level[explorer_.cases()[id].level].push_back(static_cast<int>(id));
    }
    Cascade cascade;
    cascade.levels.resize(explorer_.top());
    for (int level = 1; level <= explorer_.top(); ++level) {
      cascade.levels[explorer_.top() - level] = BuildLevel(level, by_level[level]);
    }
    for (int s = 0; s < explorer_.dfa().num_letters(); ++s) {
      cascade.first_context.push_back(ContextOf(explorer_.top(), 0, 0, s));
    }
    cascade.proof = Proof(by_level);
    return cascade;
  }

 private:
  int ContextOf(int level, int from, int to, int letter) const {
    if (level == 0) return explorer_.set(to).Smallest();
    return explorer_.cases()[explorer_.FindCase(level, from, to, letter)].context;
  }

  CascadeTables BuildLevel(int level, const std::vector<int>& ids) {
    CascadeTables tables;
    tables.labels = labels_.count(level);
    std::unordered_map<std::vector<int>, int, NumbersHash> actions;
    std::unordered_map<std::vector<int>, int, NumbersHash> contexts;  // the row of `next`, then the action
    for (const int id : ids) {
      Case& c = explorer_.cases()[id];
      const auto [action, is_new] =
          actions.emplace(ActionMap(explorer_, labels_, c), static_cast<int>(tables.actions.size()));
      if (is_new) tables.actions.push_back(action->first);
      std::vector<int> row = NextOf(c);
      row.push_back(action->second);
      const auto [context, is_first] = contexts.emplace(row, tables.contexts());
      if (is_first) {
        tables.action_of.push_back(action->second);
        row.pop_back();
        tables.next.push_back(std::move(row));
      }
      c.context = context->second;
    }
    return tables;
  }

  std::vector<int> NextOf(const Case& c) const {
    const int labels = labels_.count(c.level);
    if (explorer_.level(c.from) < c.level) {
      return std::vector<int>(labels, ContextOf(c.level - 1, c.from, explorer_.Target(c, -1), c.letter));
    }
    std::vector<int> next(labels, -1);
    int first = -1;
    bool is_constant = true;
    for (const int child : explorer_.children(c.from)) {
      const int context = ContextOf(c.level - 1, child, explorer_.Target(c, child), c.letter);
      next[labels_.Of(c.from, child)] = context;
      if (first < 0) first = context;
      is_constant &= context == first;
    }
    if (is_constant) next.assign(labels, first);
    return next;
  }

  CascadeProof Proof(const std::vector<std::vector<int>>& by_level) const {
    CascadeProof proof;
    for (int set = 0; set < explorer_.num_sets(); ++set) {
      std::vector<int>& states = proof.sets.emplace_back();
      explorer_.set(set).ForEach([&](int q) { states.push_back(q); });
      const int level = explorer_.level(set);
      proof.level_of.push_back(level == 0 ? -1 : explorer_.top() - level);
      std::vector<int> children(level == 0 ? 0 : labels_.count(level), -1);
      for (const int child : explorer_.children(set)) children[labels_.Of(set, child)] = child;
      proof.children.push_back(std::move(children));
    }
    for (int level = explorer_.top(); level >= 1; --level) {
      std::vector<CascadeProof::Case>& cases = proof.cases.emplace_back();
      for (const int id : by_level[level]) {
        const Case& c = explorer_.cases()[id];
        cases.push_back({c.from, c.to, c.letter, c.context});
      }
    }
    return proof;
  }

  Explorer& explorer_;
  const Labels& labels_;
};

}  // namespace

int Cascade::Run(std::span<const int> word) const {
  std::vector<int> labels(levels.size(), 0);
  int state = -1;
  for (const int letter : word) {
    int context = first_context[letter];
    for (size_t i = 0; i < levels.size(); ++i) {
      const int before = labels[i];
      labels[i] = levels[i].actions[levels[i].action_of[context]][before];
      context = levels[i].next[context][before];
    }
    state = context;
  }
  return state;
}

std::optional<int> PermutedSet(const Cascade& cascade) {
  for (size_t i = 0; i < cascade.levels.size(); ++i) {
    const CascadeTables& tables = cascade.levels[i];
    for (const CascadeProof::Case& c : cascade.proof.cases[i]) {
      const int action = tables.action_of[c.context];
      if (!tables.IsReset(action) && tables.actions[action] != IdentityPermutation(tables.labels)) return c.from;
    }
  }
  return std::nullopt;
}

std::optional<Cascade> Decompose(const Dfa& dfa, const ChainSystem& chains, int64_t max_cases) {
  LRNN_CHECK(dfa.num_letters() < (1 << 16), "[Decompose] expected fewer than 65536 letters, got {}", dfa.num_letters());
  Explorer explorer(dfa, chains, max_cases);
  if (!explorer.Explore()) return std::nullopt;
  const Labels labels(explorer);
  return TableBuilder(explorer, labels).Build();
}

}  // namespace lrnn
