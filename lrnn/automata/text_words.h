// Text formats made of lines of words, with escapes for what a word cannot hold.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lrnn/automata/text_place.h"

namespace lrnn {

struct TextWord {
  std::string_view text;  // as written
  size_t place = 0;       // in the whole text
};

// Goes through the lines that have words; words are separated by blanks.
class TextLines {
 public:
  enum class Comments { kNone, kHash };  // kHash: from a word that begins with # to the end of the line

  TextLines(SourceText source, Comments comments) : source_(source), comments_(comments) {}

  // Reads the next line with words; false at the end.
  bool Next();

  const std::vector<TextWord>& words() const { return words_; }
  size_t end() const { return end_; }  // where the line's last word ends

 private:
  SourceText source_;
  Comments comments_;
  size_t place_ = 0;
  size_t end_ = 0;
  std::vector<TextWord> words_;
};

// A name as a word: \s for a space, \n \t \r \f \v for other blanks, \\ for \, \# for # at the beginning, \xHH for
// other control characters. The name must not be empty.
std::string EscapeWord(std::string_view name);

// The name that a word stands for; also knows \: for the sake of table.h. Throws at the place of a wrong escape.
std::string UnescapeWord(const TextWord& word, const SourceText& source);

}  // namespace lrnn
