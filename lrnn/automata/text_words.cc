#include "lrnn/automata/text_words.h"

#include <charconv>

namespace lrnn {
namespace {

constexpr std::string_view kPlain = " \n\t\r\f\v\\#:";
constexpr std::string_view kEscaped = "sntrfv\\#:";

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

}  // namespace

bool TextLines::Next() {
  const std::string_view text = source_.text;
  words_.clear();
  while (words_.empty() && place_ < text.size()) {
    while (place_ < text.size() && text[place_] != '\n') {
      if (IsBlank(text[place_])) {
        ++place_;
        continue;
      }
      if (comments_ == Comments::kHash && text[place_] == '#') {
        place_ = std::min(text.find('\n', place_), text.size());
        break;
      }
      const size_t begin = place_;
      while (place_ < text.size() && text[place_] != '\n' && !IsBlank(text[place_])) ++place_;
      words_.push_back({text.substr(begin, place_ - begin), begin});
      end_ = place_;
    }
    ++place_;  // the newline
  }
  return !words_.empty();
}

std::string EscapeWord(std::string_view name) {
  LRNN_CHECK(!name.empty(), "[automata] a letter without a name cannot be written");
  std::string word;
  for (const char c : name) {
    const size_t special = kPlain.find(c);
    const bool is_literal = c == ':' || (c == '#' && !word.empty());
    if (special != std::string_view::npos && !is_literal) {
      word += '\\';
      word += kEscaped[special];
    } else if ((c >= 0 && c < 0x20) || c == 0x7F) {
      word += fmt::format("\\x{:02x}", c);
    } else {
      word += c;
    }
  }
  return word;
}

std::string UnescapeWord(const TextWord& word, const SourceText& source) {
  std::string name;
  for (size_t i = 0; i < word.text.size(); ++i) {
    if (word.text[i] != '\\') {
      name += word.text[i];
      continue;
    }
    const size_t place = word.place + i;
    const char c = i + 1 < word.text.size() ? word.text[i + 1] : '\0';
    if (c == 'x') {
      const std::string_view digits = word.text.substr(i + 2, 2);
      unsigned value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
      if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
        source.FailAt(place, "expected two hexadecimal digits after \\x");
      }
      name += static_cast<char>(value);
      i += 3;
    } else {
      const size_t special = c == '\0' ? std::string_view::npos : kEscaped.find(c);
      if (special == std::string_view::npos) {
        source.FailAt(place, "unknown escape; \\ stands before s n t r f v \\ # : xHH");
      }
      name += kPlain[special];
      ++i;
    }
  }
  return name;
}

}  // namespace lrnn
