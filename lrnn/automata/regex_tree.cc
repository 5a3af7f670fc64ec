#include "lrnn/automata/regex_tree.h"

#include <map>
#include <utility>

namespace lrnn {
namespace {

constexpr int kMaxDepth = 500;      // of brackets: each takes some stack
constexpr int kMaxParts = 1 << 20;  // letters, classes, brackets, repetitions and empty words of a pattern

using Kind = RegexNode::Kind;

// Recursive descent, one function per level of precedence.
class Parser {
 public:
  Parser(std::string_view pattern, const RegexOptions& options) : in_(pattern, options), options_(options) {}

  RegexTree Parse() {
    tree_.root = ParseUnion();
    if (!in_.IsAtEnd()) in_.FailAt(in_.place(), "')' without '(' before it; write \\) for the letter");
    tree_.alphabet = in_.MakeAlphabet(tree_.sets);
    return std::move(tree_);
  }

 private:
  int Add(RegexNode node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<int>(tree_.nodes.size()) - 1;
  }

  // One node for each set: letters are many, different ones few.
  int AddLetters(SymbolSet set) {
    set.Normalise();
    const auto [place, is_new] = nodes_of_sets_.emplace(std::move(set), 0);
    if (is_new) {
      tree_.sets.push_back(place->first);
      place->second = Add({Kind::kLetters, {}, static_cast<int>(tree_.sets.size()) - 1});
    }
    return place->second;
  }

  int AddRepeat(int node, int low, int high) {
    CountPart();
    return Add({Kind::kRepeat, {node}, 0, low, high});
  }

  void CountPart() {
    if (++parts_ > kMaxParts) in_.FailAt(in_.place(), "the pattern is too long: more than {} parts", kMaxParts);
  }

  int ParseUnion() {
    std::vector<int> parts = {ParseIntersection()};
    while (in_.Accept("|")) parts.push_back(ParseIntersection());
    return parts.size() == 1 ? parts[0] : Add({Kind::kUnion, std::move(parts)});
  }

  int ParseIntersection() {
    std::vector<int> parts = {ParseSequence()};
    while (in_.IsAt("&")) {
      if (is_sequence_empty_) in_.FailAt(in_.place(), "expected a pattern before '&'; write () for the empty word");
      in_.TakeSyntax();
      parts.push_back(ParseSequence());
      if (is_sequence_empty_) in_.FailAt(in_.place(), "expected a pattern after '&'; write () for the empty word");
    }
    return parts.size() == 1 ? parts[0] : Add({Kind::kIntersection, std::move(parts)});
  }

  int ParseSequence() {
    std::vector<int> parts;
    for (in_.SkipBlanks(); !IsAtSequenceEnd(); in_.SkipBlanks()) parts.push_back(ParseComplement());
    is_sequence_empty_ = parts.empty();
    if (is_sequence_empty_) CountPart();
    return parts.size() == 1 ? parts[0] : Add({Kind::kSequence, std::move(parts)});
  }

  bool IsAtSequenceEnd() const { return in_.IsAtEnd() || in_.IsAt("|") || in_.IsAt("&") || in_.IsAt(")"); }

  int ParseComplement() {
    bool is_complement = false;
    for (; in_.Accept("~"); in_.SkipBlanks()) is_complement = !is_complement;
    if (IsAtSequenceEnd()) in_.FailAt(in_.place(), "expected a pattern after '~'");
    const int node = ParseRepeat();
    return is_complement ? Add({Kind::kComplement, {node}}) : node;
  }

  int ParseRepeat() {
    int node = ParseAtom();
    for (in_.SkipBlanks();; in_.SkipBlanks()) {
      if (in_.Accept("*")) {
        node = AddRepeat(node, 0, RegexNode::kNoLimit);
      } else if (in_.Accept("+")) {
        node = AddRepeat(node, 1, RegexNode::kNoLimit);
      } else if (in_.Accept("?")) {
        node = AddRepeat(node, 0, 1);
      } else if (in_.Accept("{")) {
        node = ParseCount(node);
      } else {
        return node;
      }
    }
  }

  // After '{': 3} 3,} 3,5}
  int ParseCount(int node) {
    const int low = ParseNumber();
    int high = low;
    if (in_.Accept(",")) {
      const size_t begin = in_.place();
      high = in_.IsAt("}") ? RegexNode::kNoLimit : ParseNumber();
      if (high != RegexNode::kNoLimit && high < low) in_.FailAt(begin, "expected at least {}, got {}", low, high);
    }
    if (!in_.Accept("}")) in_.FailAt(in_.place(), "expected '}}'");
    return AddRepeat(node, low, high);
  }

  int ParseNumber() {
    const auto is_digit = [this] { return in_.Peek() >= '0' && in_.Peek() <= '9'; };
    const size_t begin = in_.place();
    if (!is_digit()) in_.FailAt(begin, "expected a number as in {{3}}, {{3,}} or {{3,5}}; write \\{{ for the letter");
    int64_t number = 0;
    while (is_digit()) {
      number = number * 10 + (in_.TakeSyntax() - '0');
      if (number > options_.max_repeat) {
        in_.FailAt(begin, "expected at most {} repetitions (max_repeat)", options_.max_repeat);
      }
    }
    return static_cast<int>(number);
  }

  int ParseAtom() {
    CountPart();
    const char c = in_.Peek();
    switch (c) {
      case '(':
        return ParseGroup();
      case '[':
        return ParseClass();
      case '.':
        in_.TakeSyntax();
        return AddLetters({{}, true});
      case '*':
      case '+':
      case '?':
      case '{':
        in_.FailAt(in_.place(), "expected a pattern before '{0}'; write \\{0} for the letter", c);
      case '^':
      case '$':
        in_.FailAt(in_.place(), "no anchors: a pattern describes the whole word; write \\{} for the letter", c);
      case ']':
      case '}':
        in_.FailAt(in_.place(), "'{0}' without an opening bracket; write \\{0} for the letter", c);
      default:
        break;
    }
    const size_t begin = in_.place();
    const std::vector<uint32_t> bytes = in_.ReadLongCharacter();
    if (bytes.empty()) {
      const SymbolSet set = in_.ReadSymbol();
      in_.CheckKnown(set, begin);
      return AddLetters(set);
    }
    std::vector<int> parts;
    for (const uint32_t byte : bytes) parts.push_back(AddLetters({{{byte, byte}}}));
    return Add({Kind::kSequence, std::move(parts)});
  }

  int ParseGroup() {
    if (++depth_ > kMaxDepth) in_.FailAt(in_.place(), "brackets are nested more than {} deep", kMaxDepth);
    in_.TakeSyntax();
    in_.Accept("?:");
    const int node = ParseUnion();
    if (!in_.Accept(")")) in_.FailAt(in_.place(), "expected ')' before the end");
    --depth_;
    return node;
  }

  int ParseClass() {
    const size_t begin = in_.place();
    in_.TakeSyntax();
    SymbolSet set;
    set.is_negated = in_.Accept("^");
    in_.SkipBlanks();
    if (in_.IsAt("]")) in_.FailAt(in_.place(), "expected a letter in the class; write \\] for ']'");
    for (; !in_.Accept("]"); in_.SkipBlanks()) {
      if (in_.IsAtEnd()) in_.FailAt(begin, "'[' without ']' after it; write \\[ for the letter");
      ParseClassItem(set);
    }
    return AddLetters(set);
  }

  // A letter, a range or an escape; its letters join `set`.
  void ParseClassItem(SymbolSet& set) {
    CountPart();
    const size_t begin = in_.place();
    if (in_.IsAt("[")) in_.FailAt(begin, "'[' inside a class; write \\[ for the letter");
    SymbolSet item = in_.ReadSymbol();
    if (in_.IsAt("-") && !in_.IsAt("-]")) {
      if (options_.letters == RegexLetters::kNames) in_.FailAt(in_.place(), "names have no ranges");
      in_.TakeSyntax();
      if (in_.IsAtEnd()) in_.FailAt(in_.place(), "expected the end of the range");
      const SymbolSet last = in_.ReadSymbol();
      if (!item.IsOneSymbol() || !last.IsOneSymbol()) in_.FailAt(begin, "expected a range between two letters");
      item.ranges[0].second = last.ranges[0].first;
      if (item.ranges[0].second < item.ranges[0].first) in_.FailAt(begin, "the range ends before it begins");
    } else {
      in_.CheckKnown(item, begin);
    }
    if (item.is_negated) in_.FailAt(begin, "\\D, \\W and \\S have no place in a class; write [^...]");
    set.ranges.insert(set.ranges.end(), item.ranges.begin(), item.ranges.end());
  }

  SymbolReader in_;
  const RegexOptions& options_;
  int depth_ = 0;
  int parts_ = 0;
  bool is_sequence_empty_ = false;  // the last sequence that was read
  std::map<SymbolSet, int> nodes_of_sets_;
  RegexTree tree_;
};

}  // namespace

RegexTree ParseRegex(std::string_view pattern, const RegexOptions& options) { return Parser(pattern, options).Parse(); }

}  // namespace lrnn
