#include "lrnn/automata/regex.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "lrnn/automata/minimise.h"
#include "lrnn/automata/regex_terms.h"
#include "lrnn/automata/regex_tree.h"
#include "lrnn/base/error.h"

namespace lrnn {
namespace {

constexpr int64_t kMaxTable = int64_t{1} << 26;         // states times letters: 256 MB
constexpr int64_t kMaxClassLetters = int64_t{1} << 24;  // of all classes together

// The letters in each set of the tree, sorted.
std::vector<std::vector<int>> LettersOfSets(const RegexTree& tree, const std::string& source) {
  const std::vector<uint32_t>& symbols = tree.alphabet.symbols;
  std::vector<int> by_symbol(symbols.size());
  std::iota(by_symbol.begin(), by_symbol.end(), 0);
  std::sort(by_symbol.begin(), by_symbol.end(), [&](int a, int b) { return symbols[a] < symbols[b]; });
  const auto first_from = [&](uint32_t symbol) {
    return std::lower_bound(by_symbol.begin(), by_symbol.end(), symbol,
                            [&](int letter, uint32_t value) { return symbols[letter] < value; });
  };
  int64_t total = 0;
  std::vector<std::vector<int>> letters;
  for (const SymbolSet& set : tree.sets) {
    std::vector<int>& members = letters.emplace_back();
    auto place = by_symbol.begin();  // everything before it has been dealt with
    for (const auto& [first, last] : set.ranges) {
      const auto begin = first_from(first);
      const auto end = first_from(last + 1);
      if (set.is_negated) {
        members.insert(members.end(), place, begin);
        place = end;
      } else {
        members.insert(members.end(), begin, end);
      }
    }
    if (set.is_negated) members.insert(members.end(), place, by_symbol.end());
    if (!std::is_sorted(members.begin(), members.end())) std::sort(members.begin(), members.end());
    total += static_cast<int64_t>(members.size());
    LRNN_CHECK(total <= kMaxClassLetters, "{}: the classes of the pattern hold more than {} letters together", source,
               kMaxClassLetters);
  }
  return letters;
}

// The class of each letter: letters that are in the same sets share one. Classes are numbered by their first letters.
std::vector<int> ClassesOfLetters(int num_letters, const std::vector<std::vector<int>>& sets) {
  std::vector<int> group(num_letters, 0);
  std::vector<int> size = {num_letters};
  std::unordered_map<int, int> inside;  // of each group the letters in the set
  for (const std::vector<int>& set : sets) {
    inside.clear();
    for (const int letter : set) ++inside[group[letter]];
    for (auto& [old_group, count] : inside) {
      if (count == size[old_group]) {
        count = old_group;  // from here on the new group
      } else {
        size[old_group] -= count;
        size.push_back(count);
        count = static_cast<int>(size.size()) - 1;
      }
    }
    for (const int letter : set) group[letter] = inside[group[letter]];
  }
  std::unordered_map<int, int> numbers;
  for (int& letter_group : group) {
    letter_group = numbers.emplace(letter_group, static_cast<int>(numbers.size())).first->second;
  }
  return group;
}

// The tree as a term; nodes have their children before them.
RegexTerms::Id MakeTerm(const RegexTree& tree, const std::vector<std::vector<int>>& classes_of_sets,
                        RegexTerms& terms) {
  std::vector<RegexTerms::Id> made;
  for (const RegexNode& node : tree.nodes) {
    std::vector<RegexTerms::Id> children;
    for (const int child : node.children) children.push_back(made[child]);
    switch (node.kind) {
      case RegexNode::Kind::kLetters:
        made.push_back(terms.Letters(classes_of_sets[node.set]));
        break;
      case RegexNode::Kind::kSequence: {
        RegexTerms::Id sequence = RegexTerms::kEmptyWord;
        for (auto child = children.rbegin(); child != children.rend(); ++child) {
          sequence = terms.Sequence(*child, sequence);
        }
        made.push_back(sequence);
        break;
      }
      case RegexNode::Kind::kUnion:
        made.push_back(terms.Union(std::move(children)));
        break;
      case RegexNode::Kind::kIntersection:
        made.push_back(terms.Intersection(std::move(children)));
        break;
      case RegexNode::Kind::kComplement:
        made.push_back(terms.Complement(children[0]));
        break;
      case RegexNode::Kind::kRepeat:
        made.push_back(terms.Repeat(children[0], node.low, node.high));
        break;
    }
  }
  return made[tree.root];
}

// The automaton over classes whose states are the derivatives of the term.
Dfa Explore(RegexTerms::Id root, int num_classes, RegexTerms& terms, int max_states) {
  Dfa dfa;
  dfa.letters.resize(num_classes);
  dfa.next.resize(num_classes);
  std::unordered_map<RegexTerms::Id, int> numbers = {{root, 0}};
  std::vector<RegexTerms::Id> states = {root};
  for (size_t i = 0; i < states.size(); ++i) {
    dfa.accepting.push_back(terms.HasEmptyWord(states[i]));
    const std::vector<RegexTerms::Id>& derivatives = terms.Derivatives(states[i]);
    for (int letter = 0; letter < num_classes; ++letter) {
      const auto [place, is_new] = numbers.emplace(derivatives[letter], static_cast<int>(states.size()));
      if (is_new) states.push_back(derivatives[letter]);
      dfa.next[letter].push_back(place->second);
    }
    LRNN_CHECK(static_cast<int>(states.size()) <= max_states,
               "the automaton has more than {} states before it is minimised (max_states)", max_states);
  }
  dfa.num_states = static_cast<int>(states.size());
  return dfa;
}

}  // namespace

Dfa FromRegex(std::string_view pattern, const RegexOptions& options) {
  const RegexTree tree = ParseRegex(pattern, options);
  const int num_letters = static_cast<int>(tree.alphabet.letters.size());
  std::vector<std::vector<int>> sets = LettersOfSets(tree, options.source);
  const std::vector<int> class_of = ClassesOfLetters(num_letters, sets);
  const int num_classes = 1 + *std::max_element(class_of.begin(), class_of.end());
  for (std::vector<int>& set : sets) {
    for (int& letter : set) letter = class_of[letter];
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }

  Dfa minimal;
  try {
    RegexTerms terms(num_classes);
    minimal = Minimise(Explore(MakeTerm(tree, sets, terms), num_classes, terms, options.max_states));
  } catch (const Error& error) {
    Fail("{}: {}", options.source, error.what());
  }
  LRNN_CHECK(int64_t{minimal.num_states} * num_letters <= kMaxTable,
             "{}: {} states and {} letters make too large a table", options.source, minimal.num_states, num_letters);
  Dfa dfa = std::move(minimal);
  const std::vector<std::vector<int>> rows = std::exchange(dfa.next, {});
  for (const int letter_class : class_of) dfa.next.push_back(rows[letter_class]);
  dfa.letters = tree.alphabet.letters;
  return dfa;
}

}  // namespace lrnn
