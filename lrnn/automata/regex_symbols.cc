#include "lrnn/automata/regex_symbols.h"

#include <algorithm>

#include "lrnn/automata/utf8.h"

namespace lrnn {
namespace {

constexpr size_t kMaxLetters = 1 << 16;  // of an alphabet

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A character that \ turns into a letter.
bool IsPunctuation(char c) {
  return (c >= ' ' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string ByteName(uint32_t byte) {
  return byte >= 0x20 && byte < 0x7F ? std::string(1, static_cast<char>(byte)) : fmt::format("<0x{:02X}>", byte);
}

SymbolSet One(uint32_t symbol) { return {{{symbol, symbol}}}; }

// What \c stands for, nothing when it is unknown. \x is not among these.
std::optional<SymbolSet> Escape(char c) {
  switch (c) {
    case 'n':
      return One('\n');
    case 't':
      return One('\t');
    case 'r':
      return One('\r');
    case 'f':
      return One('\f');
    case 'v':
      return One('\v');
    case '0':
      return One(0);
    case 'd':
    case 'D':
      return SymbolSet{{{'0', '9'}}, c == 'D'};
    case 'w':
    case 'W':
      return SymbolSet{{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, c == 'W'};
    case 's':
    case 'S':
      return SymbolSet{{{'\t', '\r'}, {' ', ' '}}, c == 'S'};
    default:
      return IsPunctuation(c) ? std::optional(One(static_cast<uint8_t>(c))) : std::nullopt;
  }
}

}  // namespace

void SymbolSet::Normalise() {
  std::sort(ranges.begin(), ranges.end());
  size_t kept = 0;
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first > ranges[kept].second + 1) {
      ranges[++kept] = ranges[i];
    } else {
      ranges[kept].second = std::max(ranges[kept].second, ranges[i].second);
    }
  }
  ranges.resize(std::min(ranges.size(), kept + 1));
}

SymbolReader::SymbolReader(std::string_view pattern, const RegexOptions& options) : text_(pattern), options_(options) {
  LRNN_CHECK(options.alphabet.size() <= kMaxLetters, "[regex] expected at most {} letters, got {}", kMaxLetters,
             options.alphabet.size());
  for (const std::string& letter : options.alphabet) {
    const std::optional<uint32_t> symbol = SymbolOf(letter);
    LRNN_CHECK(symbol, "[regex] expected the letters of the alphabet to be {}, got '{}'",
               HasNames()   ? "words without blanks, < and >"
               : HasBytes() ? "bytes (a, <0x0A>)"
                            : "single characters",
               letter);
    LRNN_CHECK(known_.insert(*symbol).second, "[regex] the alphabet has the letter '{}' twice", letter);
    given_.push_back(*symbol);
  }
}

std::string SymbolReader::LetterOf(uint32_t symbol) const { return HasBytes() ? ByteName(symbol) : EncodeUtf8(symbol); }

std::optional<uint32_t> SymbolReader::SymbolOf(std::string_view letter) {
  if (HasNames()) {
    for (const char c : letter) {
      if (IsBlank(c) || c == '<' || c == '>') return std::nullopt;
    }
    if (letter.empty()) return std::nullopt;
    return names_.emplace(letter, static_cast<uint32_t>(names_.size())).first->second;
  }
  if (HasBytes()) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      if (letter == ByteName(byte)) return byte;
    }
    return std::nullopt;
  }
  const Utf8Character character = DecodeUtf8(letter, 0);
  if (character.bytes == 0 || static_cast<size_t>(character.bytes) != letter.size()) return std::nullopt;
  return character.code;
}

bool SymbolReader::Accept(std::string_view word) {
  if (!IsAt(word)) return false;
  place_ += word.size();
  return true;
}

void SymbolReader::SkipBlanks() {
  while (HasNames() && !IsAtEnd() && IsBlank(text_[place_])) ++place_;
}

SymbolSet SymbolReader::ReadSymbol() {
  if (HasNames()) return ReadName();
  if (IsAt("\\")) return ReadEscape();
  if (HasBytes() && static_cast<uint8_t>(Peek()) >= 0x80) {
    FailAt(place_, "a class of bytes holds ASCII and \\xHH alone; write (a|b) for longer characters");
  }
  const Utf8Character character = DecodeUtf8(text_, place_);
  if (character.bytes == 0) FailAt(place_, "the pattern is not UTF-8 here; write \\xHH, or let letters be bytes");
  place_ += static_cast<size_t>(character.bytes);
  return One(character.code);
}

// <name>
SymbolSet SymbolReader::ReadName() {
  if (!Accept("<")) FailAt(place_, "expected a letter in angle brackets, such as <left>");
  const size_t begin = place_;
  while (!IsAtEnd() && !IsAt(">") && !IsAt("<") && !IsBlank(Peek())) ++place_;
  if (!IsAt(">")) FailAt(place_, "expected '>'");
  if (place_ == begin) FailAt(place_, "expected a name between '<' and '>'");
  const std::string_view name = text_.substr(begin, place_++ - begin);
  if (!known_.empty() && !names_.contains(name)) FailUnknown(begin - 1, name);
  return One(*SymbolOf(name));
}

SymbolSet SymbolReader::ReadEscape() {
  const size_t begin = place_++;
  if (IsAtEnd()) FailAt(begin, "expected a character after '\\'");
  const char c = text_[place_++];
  if (c == 'x') {
    const int high = HexDigit(Peek());
    const int low = place_ + 1 < text_.size() ? HexDigit(text_[place_ + 1]) : -1;
    if (high < 0 || low < 0) FailAt(begin, "expected two hexadecimal digits after \\x");
    place_ += 2;
    return One(static_cast<uint32_t>(high * 16 + low));
  }
  std::optional<SymbolSet> set = Escape(c);
  if (!set) FailAt(begin, "unknown escape; \\ stands before n t r f v 0 d w s D W S xHH and punctuation");
  return *std::move(set);
}

std::vector<uint32_t> SymbolReader::ReadLongCharacter() {
  std::vector<uint32_t> symbols;
  if (!HasBytes() || static_cast<uint8_t>(Peek()) < 0x80) return symbols;
  const size_t begin = place_;
  const int bytes = std::max(1, DecodeUtf8(text_, place_).bytes);  // a byte that is no UTF-8 is taken as it is
  for (int i = 0; i < bytes; ++i, ++place_) {
    symbols.push_back(static_cast<uint8_t>(Peek()));
    CheckKnown(One(symbols.back()), begin);
  }
  return symbols;
}

void SymbolReader::CheckKnown(const SymbolSet& set, size_t place) const {
  if (known_.empty() || !set.IsOneSymbol() || known_.contains(set.ranges[0].first)) return;
  FailUnknown(place, LetterOf(set.ranges[0].first));
}

void SymbolReader::FailUnknown(size_t place, std::string_view letter) const {
  std::string some;
  for (const std::string& known : options_.alphabet) {
    if (some.size() > 40) {
      some += " ...";
      break;
    }
    some += (some.empty() ? "" : " ") + known;
  }
  FailAt(place, "'{}' is not a letter of the alphabet ({})", letter, some);
}

Alphabet SymbolReader::MakeAlphabet(const std::vector<SymbolSet>& sets) const {
  if (!given_.empty()) return {options_.alphabet, given_};
  Alphabet alphabet;
  if (HasNames()) {
    if (names_.size() > kMaxLetters) FailAt(0, "the pattern names more than {} letters", kMaxLetters);
    for (const auto& [name, symbol] : names_) {
      alphabet.letters.push_back(name);
      alphabet.symbols.push_back(symbol);
    }
  }
  SymbolSet all;
  if (!HasNames()) {
    for (const SymbolSet& set : sets) all.ranges.insert(all.ranges.end(), set.ranges.begin(), set.ranges.end());
  }
  all.Normalise();
  for (const auto& [first, last] : all.ranges) {
    if (alphabet.symbols.size() + (last - first) >= kMaxLetters) {
      FailAt(0, "the pattern names more than {} letters; give an alphabet", kMaxLetters);
    }
    for (uint32_t symbol = first; symbol <= last; ++symbol) {
      if (symbol >= 0xD800 && symbol <= 0xDFFF) continue;  // no characters
      alphabet.letters.push_back(LetterOf(symbol));
      alphabet.symbols.push_back(symbol);
    }
  }
  if (alphabet.letters.empty()) FailAt(0, "the pattern names no letter; give an alphabet");
  return alphabet;
}

std::vector<std::string> ByteAlphabet() {
  std::vector<std::string> letters;
  for (uint32_t byte = 0; byte < 256; ++byte) letters.push_back(ByteName(byte));
  return letters;
}

}  // namespace lrnn
