// Regular expressions under derivatives (Brzozowski 1964): the derivative of a language by a letter is what may follow
// that letter, { w : sw in L }. An expression and its derivatives are the states of an automaton.
//
// Terms are normalised and stored once, so equal numbers are equal terms. Unions are sets (associative, commutative,
// idempotent), and derivatives are made of partial ones (Antimirov 1996), so there are finitely many.
// Letters come in classes 0 .. num_classes-1 that no set of the expression tells apart.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace lrnn {

class RegexTerms {
 public:
  using Id = int;
  static constexpr Id kNothing = 0;    // no word
  static constexpr Id kEmptyWord = 1;  // the empty word alone
  static constexpr Id kAnything = 3;   // every word
  static constexpr int kNoLimit = -1;  // of Repeat

  explicit RegexTerms(int num_classes);

  Id Letters(const std::vector<int>& classes);  // sorted
  Id Sequence(Id head, Id tail);
  Id Union(std::vector<Id> parts);
  Id Intersection(std::vector<Id> parts);
  Id Complement(Id term);
  Id Repeat(Id term, int low, int high);

  bool HasEmptyWord(Id term) const { return nodes_[term].has_empty_word; }

  // The derivative by each class. Throws Error when all the terms together outgrow memory and patience.
  const std::vector<Id>& Derivatives(Id term);

 private:
  enum class Kind : char32_t { kNothing, kEmptyWord, kLetters, kRepeat, kSequence, kUnion, kIntersection, kComplement };

  // A term is its kind and what follows it: classes, other terms, or for kRepeat {term, low, high}.
  using Key = std::u32string;
  struct Node {
    const Key* key;
    bool has_empty_word;
  };

  Kind kind(Id term) const { return static_cast<Kind>((*nodes_[term].key)[0]); }
  int item(Id term, int i) const { return static_cast<int>((*nodes_[term].key)[1 + i]); }
  int size(Id term) const { return static_cast<int>(nodes_[term].key->size()) - 1; }
  std::vector<int> items(Id term) const;
  Id Store(Kind kind, const std::vector<int>& items, bool has_empty_word);
  void Charge(int64_t numbers);

  int num_classes_;
  int64_t charged_ = 0;
  std::unordered_map<Key, Id> ids_;
  std::vector<Node> nodes_;
  std::unordered_map<Id, std::vector<Id>> derivatives_;
  std::vector<int> visited_;  // by term: the last walk that met it
  int walk_ = 0;
};

}  // namespace lrnn
