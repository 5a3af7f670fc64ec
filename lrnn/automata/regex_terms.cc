#include "lrnn/automata/regex_terms.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

// One unit is about four bytes kept, or one term visited on the way to a derivative.
constexpr int64_t kMaxCharge = int64_t{1} << 24;
constexpr int64_t kChargeOfTerm = 32;  // its place in the tables

void SortUnique(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

RegexTerms::RegexTerms(int num_classes) : num_classes_(num_classes) {
  std::vector<int> all(num_classes);
  std::iota(all.begin(), all.end(), 0);
  Store(Kind::kNothing, {}, false);
  Store(Kind::kEmptyWord, {}, true);
  const Id letter = Store(Kind::kLetters, all, false);
  Store(Kind::kRepeat, {letter, 0, kNoLimit}, true);
}

std::vector<int> RegexTerms::items(Id term) const {
  const Key& key = *nodes_[term].key;
  return std::vector<int>(key.begin() + 1, key.end());
}

void RegexTerms::Charge(int64_t numbers) {
  charged_ += numbers;
  LRNN_CHECK(charged_ <= kMaxCharge,
             "the pattern is too large: its automaton takes more than {} MB or {} million steps", kMaxCharge * 4 >> 20,
             kMaxCharge >> 20);
}

RegexTerms::Id RegexTerms::Store(Kind kind, const std::vector<int>& items, bool has_empty_word) {
  Key key(1, static_cast<char32_t>(kind));
  for (const int item : items) key.push_back(static_cast<char32_t>(item));
  const auto [place, is_new] = ids_.emplace(std::move(key), static_cast<Id>(nodes_.size()));
  if (is_new) {
    Charge(static_cast<int64_t>(items.size()) + kChargeOfTerm);
    nodes_.push_back({&place->first, has_empty_word});
    visited_.push_back(0);
  }
  return place->second;
}

RegexTerms::Id RegexTerms::Letters(const std::vector<int>& classes) {
  return classes.empty() ? kNothing : Store(Kind::kLetters, classes, false);
}

RegexTerms::Id RegexTerms::Sequence(Id head, Id tail) {
  std::vector<Id> heads;  // of (a (b c)) tail: a, b, c
  for (; kind(head) == Kind::kSequence; head = item(head, 1)) heads.push_back(item(head, 0));
  heads.push_back(head);
  Charge(static_cast<int64_t>(heads.size()));
  for (auto part = heads.rbegin(); part != heads.rend(); ++part) {
    if (*part == kNothing || tail == kNothing) {
      tail = kNothing;
    } else if (tail == kEmptyWord || (*part == kAnything && HasEmptyWord(tail))) {
      tail = *part;
    } else if (*part != kEmptyWord && !(tail == kAnything && HasEmptyWord(*part))) {
      tail = Store(Kind::kSequence, {*part, tail}, HasEmptyWord(*part) && HasEmptyWord(tail));
    }
  }
  return tail;
}

RegexTerms::Id RegexTerms::Union(std::vector<Id> parts) {
  std::vector<Id> kept;
  std::vector<int> classes;
  bool has_empty_word = false;  // in a part that is kept
  bool has_empty_part = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Id part = parts[i];
    if (part == kAnything) return kAnything;
    if (kind(part) == Kind::kUnion) {
      const std::vector<int> nested = items(part);  // none of them a union
      parts.insert(parts.end(), nested.begin(), nested.end());
    } else if (kind(part) == Kind::kLetters) {
      const std::vector<int> letters = items(part);
      classes.insert(classes.end(), letters.begin(), letters.end());
    } else if (part == kEmptyWord) {
      has_empty_part = true;
    } else if (part != kNothing) {
      kept.push_back(part);
      has_empty_word = has_empty_word || HasEmptyWord(part);
    }
  }
  Charge(static_cast<int64_t>(parts.size() + classes.size()));
  if (!classes.empty()) {
    SortUnique(classes);
    kept.push_back(Letters(classes));
  }
  if (has_empty_part && !has_empty_word) kept.push_back(kEmptyWord);
  SortUnique(kept);
  if (kept.empty()) return kNothing;
  return kept.size() == 1 ? kept[0] : Store(Kind::kUnion, kept, has_empty_word || has_empty_part);
}

RegexTerms::Id RegexTerms::Intersection(std::vector<Id> parts) {
  std::vector<Id> kept;
  bool has_empty_word = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Id part = parts[i];
    if (part == kNothing) return kNothing;
    has_empty_word = has_empty_word && HasEmptyWord(part);
    if (kind(part) == Kind::kIntersection) {
      const std::vector<int> nested = items(part);
      parts.insert(parts.end(), nested.begin(), nested.end());
    } else if (part != kAnything) {
      kept.push_back(part);
    }
  }
  Charge(static_cast<int64_t>(parts.size()));
  SortUnique(kept);
  if (kept.empty()) return kAnything;
  if (kept.size() == 1) return kept[0];
  if (kept[0] == kEmptyWord) return has_empty_word ? kEmptyWord : kNothing;
  return Store(Kind::kIntersection, kept, has_empty_word);
}

RegexTerms::Id RegexTerms::Complement(Id term) {
  if (term == kNothing) return kAnything;
  if (term == kAnything) return kNothing;
  if (kind(term) == Kind::kComplement) return item(term, 0);
  return Store(Kind::kComplement, {term}, !HasEmptyWord(term));
}

RegexTerms::Id RegexTerms::Repeat(Id term, int low, int high) {
  if (HasEmptyWord(term)) low = 0;
  if (high == 0 || term == kEmptyWord || (term == kNothing && low == 0)) return kEmptyWord;
  if (term == kNothing || (low == 1 && high == 1)) return term;
  if (kind(term) == Kind::kRepeat) {
    const bool is_star = item(term, 1) == 0 && item(term, 2) == kNoLimit;
    if (is_star) return term;
    if (low == 0 && high == kNoLimit && item(term, 1) <= 1) term = item(term, 0);  // (x?)* = (x+)* = x*
  }
  return Store(Kind::kRepeat, {term, low, high}, low == 0);
}

const std::vector<RegexTerms::Id>& RegexTerms::Derivatives(Id term) {
  if (const auto known = derivatives_.find(term); known != derivatives_.end()) return known->second;

  // The term is the union of sequences head tail whose head is letters, a complement or an intersection, and perhaps of
  // the empty word: collect them. A stack, not recursion: terms may be a million parts long.
  std::vector<std::pair<Id, Id>> letters;   // (head, tail)
  std::vector<std::pair<Id, Id>> booleans;  // (head, tail)
  std::vector<Id> stack;
  ++walk_;
  const auto visit = [&](Id next) {
    if (std::exchange(visited_[next], walk_) != walk_) stack.push_back(next);
  };
  visit(term);
  while (!stack.empty()) {
    Charge(1);
    const Id top = stack.back();
    stack.pop_back();
    const bool is_sequence = kind(top) == Kind::kSequence;
    const Id head = is_sequence ? item(top, 0) : top;
    const Id tail = is_sequence ? item(top, 1) : kEmptyWord;
    switch (kind(head)) {
      case Kind::kNothing:
      case Kind::kEmptyWord:
      case Kind::kSequence:  // never a head
        break;
      case Kind::kLetters:
        letters.emplace_back(head, tail);
        break;
      case Kind::kRepeat: {
        const int low = item(head, 1);
        const int high = item(head, 2);
        const Id rest = Repeat(item(head, 0), std::max(low - 1, 0), high == kNoLimit ? kNoLimit : high - 1);
        visit(Sequence(item(head, 0), Sequence(rest, tail)));
        if (low == 0) visit(tail);
        break;
      }
      case Kind::kUnion:
        for (int i = 0; i < size(head); ++i) visit(Sequence(item(head, i), tail));
        break;
      case Kind::kIntersection:
      case Kind::kComplement:
        booleans.emplace_back(head, tail);
        if (HasEmptyWord(head)) visit(tail);
        break;
    }
  }

  std::vector<std::vector<Id>> parts(num_classes_);
  for (const auto& [head, tail] : letters) {
    Charge(size(head));
    for (int i = 0; i < size(head); ++i) parts[item(head, i)].push_back(tail);
  }
  for (const auto& [head, tail] : booleans) {
    // Recursion: as deep as complements and intersections are nested in the pattern.
    std::vector<const std::vector<Id>*> operands;
    for (const Id operand : items(head)) operands.push_back(&Derivatives(operand));
    for (int letter = 0; letter < num_classes_; ++letter) {
      std::vector<Id> derived;
      for (const std::vector<Id>* operand : operands) derived.push_back((*operand)[letter]);
      Charge(static_cast<int64_t>(derived.size()));
      const Id combined = kind(head) == Kind::kComplement ? Complement(derived[0]) : Intersection(std::move(derived));
      parts[letter].push_back(Sequence(combined, tail));
    }
  }
  std::vector<Id> result;
  Charge(num_classes_);
  for (std::vector<Id>& part : parts) result.push_back(Union(std::move(part)));
  return derivatives_.emplace(term, std::move(result)).first->second;
}

}  // namespace lrnn
