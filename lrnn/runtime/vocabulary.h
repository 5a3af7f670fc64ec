// Names for tokens. A model that lrnn has trained or compiled carries them in its config.json:
//
//   "vocab_size": 3,  "lrnn": {"symbols": ["<pad>", "0", "1"], "task": "parity"}
//
// Token i is symbol i. Tokens without a symbol (or all, in models of other origin) are written as numbers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/io/fields.h"

namespace lrnn {

class Vocabulary {
 public:
  // `symbols` may be fewer than `size`, the number of tokens.
  Vocabulary(std::vector<std::string> symbols, int64_t size);

  static Vocabulary FromConfig(const Fields& config);

  // The tokens of a word: of the symbol it is, else of the single-character symbols it is made of ("1011"), else of the
  // number of a token that has no symbol. An Error names the word and lists the symbols.
  std::vector<int32_t> Parse(std::string_view word) const;

  // The symbol of a token, or its number.
  std::string Name(int32_t token) const;

  int64_t size() const { return size_; }
  const std::vector<std::string>& symbols() const { return symbols_; }
  const std::string& task() const { return task_; }  // "" when the model names none

 private:
  std::string Describe() const;

  std::vector<std::string> symbols_;
  std::map<std::string, int32_t, std::less<>> tokens_;
  int64_t size_;
  std::string task_;
};

}  // namespace lrnn
