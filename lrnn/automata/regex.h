// Regular expressions to minimal automata.
//
// A pattern describes whole words (there are no anchors). From what binds tightest to what binds loosest:
//
//   | written                   | means                                                                         |
//   |---------------------------|-------------------------------------------------------------------------------|
//   | a  \n  [a-z]  .  (x)      | a letter, an escape, a class, any letter of the alphabet, grouping;           |
//   |                           | () is the empty word                                                          |
//   | x*  x+  x?  x{3} x{3,5}   | repetition; x{3,} has no upper end                                            |
//   | ~x                        | complement, every word that x does not match: ~ab is (~a)b, ~a* is ~(a*)      |
//   | xy                        | concatenation                                                                 |
//   | x&y                       | intersection                                                                  |
//   | x|y                       | union                                                                         |
//
// Escapes: \n \t \r \f \v \0, \xHH, \d \w \s and their complements \D \W \S, and \ before any character that is neither
// a letter nor a digit. Classes: [abc], [a-z], [^ab] (the other letters of the alphabet), with the same escapes inside.
// A negated class, `.` and ~ speak of the alphabet: the letters given, or else those the pattern names.
//
// Letters are characters, bytes or names:
//   kCharacters  each Unicode character of the pattern is a letter; \xHH is U+00HH
//   kBytes       each byte is a letter, written as itself when printable ASCII and as <0x0A> otherwise (the names of
//                byte tokens); a character of several bytes is their concatenation
//   kNames       letters are words in angle brackets, <left><right>*, also in classes, [<left><right>]; blanks between
//                them mean nothing
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lrnn/automata/dfa.h"

namespace lrnn {

enum class RegexLetters { kCharacters, kBytes, kNames };

struct RegexOptions {
  RegexLetters letters = RegexLetters::kCharacters;
  std::vector<std::string> alphabet;  // in the order the automaton keeps; empty: the letters of the pattern, sorted
  int max_states = 10000;             // of the automaton before it is minimised
  int max_repeat = 1000;              // the largest count in x{m,n}
  std::string source = "regex";       // the pattern's name in messages
};

// The minimal complete automaton of the pattern's language, states numbered in breadth-first order. Throws Error with
// line, column and a caret when the pattern is wrong, and an Error naming the limit when the automaton is too large.
Dfa FromRegex(std::string_view pattern, const RegexOptions& options = {});

// All 256 bytes as kBytes writes them: an alphabet.
std::vector<std::string> ByteAlphabet();

}  // namespace lrnn
