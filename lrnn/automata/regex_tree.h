// The syntax tree of a regular expression; regex.h has the syntax.
#pragma once

#include <string_view>
#include <vector>

#include "lrnn/automata/regex.h"
#include "lrnn/automata/regex_symbols.h"

namespace lrnn {

struct RegexNode {
  enum class Kind {
    kLetters,       // one letter of `set`
    kSequence,      // the children one after the other; none: the empty word
    kUnion,         // one of the children
    kIntersection,  // all of the children
    kComplement,    // not the child
    kRepeat,        // the child, low to high times
  };
  static constexpr int kNoLimit = -1;

  Kind kind;
  std::vector<int> children;  // numbers of nodes, all before this one
  int set = 0;
  int low = 0;
  int high = 0;  // or kNoLimit
};

struct RegexTree {
  std::vector<RegexNode> nodes;
  int root = 0;
  std::vector<SymbolSet> sets;  // of the nodes, normalised, each once
  Alphabet alphabet;
};

// Throws Error with line, column and a caret when the pattern is wrong.
RegexTree ParseRegex(std::string_view pattern, const RegexOptions& options);

}  // namespace lrnn
