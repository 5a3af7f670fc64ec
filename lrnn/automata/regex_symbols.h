// The letters of a regular expression: how they are written in the pattern, and which alphabet they make.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lrnn/automata/regex.h"
#include "lrnn/automata/text_place.h"

namespace lrnn {

// Symbols are code points, bytes or the numbers of names, as the options say.
struct SymbolSet {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // first and last of each
  bool is_negated = false;                            // all other letters of the alphabet

  bool IsOneSymbol() const { return !is_negated && ranges.size() == 1 && ranges[0].first == ranges[0].second; }
  void Normalise();  // ranges sorted and apart from each other

  auto operator<=>(const SymbolSet&) const = default;
};

struct Alphabet {
  std::vector<std::string> letters;
  std::vector<uint32_t> symbols;  // of the letters
};

// Reads a pattern symbol by symbol. `options` must outlive it.
class SymbolReader {
 public:
  // Checks the given alphabet.
  SymbolReader(std::string_view pattern, const RegexOptions& options);

  size_t place() const { return place_; }
  bool IsAtEnd() const { return place_ >= text_.size(); }
  char Peek() const { return IsAtEnd() ? '\0' : text_[place_]; }
  bool IsAt(std::string_view word) const { return text_.substr(place_, word.size()) == word; }
  bool Accept(std::string_view word);  // steps over the word if it is next
  void SkipBlanks();                   // where blanks mean nothing: between named letters

  // The pattern's next character (ASCII, not a letter) is part of the syntax.
  char TakeSyntax() { return text_[place_++]; }

  // A letter, or an escape that stands for several.
  SymbolSet ReadSymbol();

  // One letter, read at `place`, must be of the given alphabet; of several, those that are not are left out.
  void CheckKnown(const SymbolSet& set, size_t place) const;

  // A character of the pattern that is several letters: its bytes, when letters are bytes. Otherwise nothing.
  std::vector<uint32_t> ReadLongCharacter();

  // The given alphabet, or else every letter that the sets name, sorted.
  Alphabet MakeAlphabet(const std::vector<SymbolSet>& sets) const;

  template <typename... Args>
  [[noreturn]] void FailAt(size_t place, fmt::format_string<Args...> format, Args&&... args) const {
    SourceText{text_, options_.source}.FailAt(place, format, std::forward<Args>(args)...);
  }

 private:
  bool HasNames() const { return options_.letters == RegexLetters::kNames; }
  bool HasBytes() const { return options_.letters == RegexLetters::kBytes; }
  std::string LetterOf(uint32_t symbol) const;  // not for names
  std::optional<uint32_t> SymbolOf(std::string_view letter);
  SymbolSet ReadName();
  SymbolSet ReadEscape();
  [[noreturn]] void FailUnknown(size_t place, std::string_view letter) const;

  std::string_view text_;
  const RegexOptions& options_;
  size_t place_ = 0;
  std::map<std::string, uint32_t, std::less<>> names_;  // numbered as they are met
  std::vector<uint32_t> given_;                         // the symbols of the given alphabet
  std::set<uint32_t> known_;                            // the same, to look them up
};

}  // namespace lrnn
