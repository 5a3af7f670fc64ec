#include "lrnn/automata/operations.h"

#include <algorithm>
#include <unordered_map>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

// For each letter of a its number in b.
std::vector<int> MatchLetters(const Dfa& a, const Dfa& b) {
  LRNN_CHECK(a.num_letters() == b.num_letters(), "[automata] expected automata over the same letters, got {} and {}",
             a.num_letters(), b.num_letters());
  std::vector<int> match(a.num_letters());
  if (a.letters == b.letters) {
    for (int letter = 0; letter < a.num_letters(); ++letter) match[letter] = letter;
    return match;
  }
  std::unordered_map<std::string, int> number;
  for (int letter = 0; letter < b.num_letters(); ++letter) number[b.letters[letter]] = letter;
  for (int letter = 0; letter < a.num_letters(); ++letter) {
    const auto found = number.find(a.letters[letter]);
    LRNN_CHECK(found != number.end(),
               "[automata] expected automata over the same letters, but only one has the letter '{}'",
               a.letters[letter]);
    match[letter] = found->second;
  }
  return match;
}

bool Combined(Combine combine, bool a, bool b) {
  switch (combine) {
    case Combine::kIntersection:
      return a && b;
    case Combine::kUnion:
      return a || b;
    case Combine::kDifference:
      return a && !b;
    case Combine::kSymmetricDifference:
      return a != b;
  }
  Fail("[product] unknown combination {}", static_cast<int>(combine));
}

// The reachable pairs of states, numbered as they are first met.
class Pairs {
 public:
  Pairs(const Dfa& a, const Dfa& b, int max_pairs) : b_states_(b.num_states), max_pairs_(max_pairs) {
    Number(a.start, b.start);
  }

  int size() const { return static_cast<int>(pairs_.size()); }
  std::pair<int, int> operator[](int i) const { return pairs_[i]; }

  // The number of the pair, a new one when it is met for the first time.
  int Number(int p, int q) {
    const auto [place, is_new] = numbers_.emplace(int64_t{p} * b_states_ + q, size());
    if (is_new) {
      LRNN_CHECK(size() < max_pairs_, "[automata] the two automata make more than {} pairs of states", max_pairs_);
      pairs_.emplace_back(p, q);
    }
    return place->second;
  }

 private:
  int b_states_;
  int max_pairs_;
  std::vector<std::pair<int, int>> pairs_;
  std::unordered_map<int64_t, int> numbers_;
};

// The word along the parents from the start to `last`; parents[i] = (the node before i, the letter read there).
std::vector<int> WordTo(const std::vector<std::pair<int, int>>& parents, int last) {
  std::vector<int> word;
  for (int i = last; i != 0; i = parents[i].first) word.push_back(parents[i].second);
  std::reverse(word.begin(), word.end());
  return word;
}

}  // namespace

Dfa Product(const Dfa& a, const Dfa& b, Combine combine, int max_states) {
  const std::vector<int> match = MatchLetters(a, b);
  Dfa result;
  result.letters = a.letters;
  result.next.resize(a.letters.size());
  Pairs pairs(a, b, max_states);
  for (int i = 0; i < pairs.size(); ++i) {
    const auto [p, q] = pairs[i];
    result.accepting.push_back(Combined(combine, a.accepting[p], b.accepting[q]));
    for (int letter = 0; letter < a.num_letters(); ++letter) {
      result.next[letter].push_back(pairs.Number(a.next[letter][p], b.next[match[letter]][q]));
    }
  }
  result.num_states = pairs.size();
  return result;
}

Dfa Complement(const Dfa& dfa) {
  Dfa result = dfa;
  result.accepting.flip();
  return result;
}

std::optional<std::vector<int>> Counterexample(const Dfa& a, const Dfa& b, int max_pairs) {
  const std::vector<int> match = MatchLetters(a, b);
  Pairs pairs(a, b, max_pairs);
  std::vector<std::pair<int, int>> parents = {{0, 0}};
  for (int i = 0; i < pairs.size(); ++i) {
    const auto [p, q] = pairs[i];
    if (a.accepting[p] != b.accepting[q]) return WordTo(parents, i);
    for (int letter = 0; letter < a.num_letters(); ++letter) {
      pairs.Number(a.next[letter][p], b.next[match[letter]][q]);
      if (pairs.size() > static_cast<int>(parents.size())) parents.emplace_back(i, letter);
    }
  }
  return std::nullopt;
}

bool Equivalent(const Dfa& a, const Dfa& b) { return !Counterexample(a, b); }

std::optional<std::vector<int>> ShortestWord(const Dfa& dfa) {
  const Dfa nothing{1, dfa.letters, std::vector<std::vector<int>>(dfa.letters.size(), {0}), 0, {false}};
  return Counterexample(dfa, nothing);
}

}  // namespace lrnn
