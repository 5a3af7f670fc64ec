// For tests: random regular expressions, as patterns and as definitions that say which words they match.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "lrnn/base/rng.h"

namespace lrnn {

// An expression over the letters a, b, c.
struct RandomRegex {
  enum class Kind { kLetters, kEmptyWord, kSequence, kUnion, kIntersection, kComplement, kRepeat };

  Kind kind = Kind::kEmptyWord;
  std::string letters;  // kLetters: those it matches
  std::vector<RandomRegex> parts;
  int low = 0;
  int high = 0;  // -1: no limit

  // By definition, trying all ways to cut the word: slow, and nothing like derivatives.
  bool Matches(std::string_view word) const {
    switch (kind) {
      case Kind::kLetters:
        return word.size() == 1 && letters.find(word[0]) != std::string::npos;
      case Kind::kEmptyWord:
        return word.empty();
      case Kind::kSequence:
        for (size_t cut = 0; cut <= word.size(); ++cut) {
          if (parts[0].Matches(word.substr(0, cut)) && parts[1].Matches(word.substr(cut))) return true;
        }
        return false;
      case Kind::kUnion:
        return parts[0].Matches(word) || parts[1].Matches(word);
      case Kind::kIntersection:
        return parts[0].Matches(word) && parts[1].Matches(word);
      case Kind::kComplement:
        return !parts[0].Matches(word);
      case Kind::kRepeat:
        return MatchesTimes(word, low, high);
    }
    return false;
  }

  // With as few brackets as the precedence allows; `level` is that of the place: 0 union, 1 intersection, 2 sequence,
  // 3 complement, 4 what is repeated.
  std::string Pattern(int level = 0) const {
    const auto in_brackets = [&](int own_level, const std::string& text) {
      return own_level < level ? "(" + text + ")" : text;
    };
    switch (kind) {
      case Kind::kLetters:
        if (letters.size() == 1) return letters;
        if (letters.size() == 3) return ".";
        return letters == "ab" ? "[ab]" : letters == "bc" ? "[b-c]" : "[^b]";
      case Kind::kEmptyWord:
        return "()";
      case Kind::kSequence:
        return in_brackets(2, parts[0].Pattern(2) + parts[1].Pattern(2));
      case Kind::kUnion:
        return in_brackets(0, parts[0].Pattern(0) + "|" + parts[1].Pattern(0));
      case Kind::kIntersection:
        return in_brackets(1, parts[0].Pattern(1) + "&" + parts[1].Pattern(1));
      case Kind::kComplement:
        return in_brackets(3, "~" + parts[0].Pattern(3));
      case Kind::kRepeat:
        return parts[0].Pattern(4) + Count();
    }
    return "";
  }

 private:
  std::string Count() const {
    if (low == 0 && high == -1) return "*";
    if (low == 1 && high == -1) return "+";
    if (low == 0 && high == 1) return "?";
    if (high == -1) return fmt::format("{{{},}}", low);
    return low == high ? fmt::format("{{{}}}", low) : fmt::format("{{{},{}}}", low, high);
  }

  bool MatchesTimes(std::string_view word, int at_least, int at_most) const {
    if (at_least == 0 && word.empty()) return true;
    if (at_most == 0) return false;
    // An empty round helps only to fill up the count, and then all that are missing may be empty.
    if (at_least > 0 && parts[0].Matches("")) return MatchesTimes(word, 0, at_most);
    for (size_t cut = 1; cut <= word.size(); ++cut) {
      if (parts[0].Matches(word.substr(0, cut)) &&
          MatchesTimes(word.substr(cut), at_least > 0 ? at_least - 1 : 0, at_most > 0 ? at_most - 1 : -1)) {
        return true;
      }
    }
    return false;
  }
};

// An expression of at most `size` operations.
inline RandomRegex MakeRandomRegex(Rng& rng, int size) {
  using Kind = RandomRegex::Kind;
  RandomRegex regex;
  if (size <= 0) {
    constexpr const char* kLetters[] = {"a", "b", "c", "a", "b", "c", "ab", "bc", "ac", "abc"};
    const uint32_t choice = rng.Below(11);
    if (choice < 10) regex = {Kind::kLetters, kLetters[choice], {}};
    return regex;
  }
  constexpr Kind kKinds[] = {Kind::kSequence,     Kind::kSequence, Kind::kSequence, Kind::kUnion,  Kind::kUnion,
                             Kind::kIntersection, Kind::kRepeat,   Kind::kRepeat,   Kind::kRepeat, Kind::kComplement};
  regex.kind = kKinds[rng.Below(10)];
  if (regex.kind == Kind::kRepeat || regex.kind == Kind::kComplement) {
    regex.parts.push_back(MakeRandomRegex(rng, size - 1));
    regex.low = static_cast<int>(rng.Below(3));
    regex.high = rng.Below(2) == 0 ? -1 : regex.low + static_cast<int>(rng.Below(3));
  } else {
    const int left = static_cast<int>(rng.Below(static_cast<uint32_t>(size)));
    regex.parts.push_back(MakeRandomRegex(rng, left));
    regex.parts.push_back(MakeRandomRegex(rng, size - 1 - left));
  }
  return regex;
}

}  // namespace lrnn
