// Examples from a file: sequences of symbols with what should be predicted at some of their positions.
//
// NAME.jsonl, an object on each line:
//
//   {"tokens": ["a", "b", "a"], "targets": [null, "odd", "even"]}     one target or null for each token
//   {"tokens": "a b a", "target": "even"}                             one target, at the last token
//
// Symbols are strings without blanks, or integers; a string of several, separated by blanks, may stand for a list.
//
// NAME.csv, a header and a line for each example; a field with a comma or a quote is written "in ""quotes""":
//
//   tokens,targets              tokens,target
//   a b a,null odd even         a b a,even
//
// Other fields and columns are ignored, as are empty lines.
#pragma once

#include <string>
#include <vector>

namespace lrnn {

struct FileExample {
  std::vector<std::string> tokens;
  std::vector<std::string> targets;  // one for each token; "" is none
  int line;                          // in the file, from 1
};

// At least one example. Errors start with path:line.
std::vector<FileExample> ReadExamples(const std::string& path);

}  // namespace lrnn
