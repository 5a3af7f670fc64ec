#include "lrnn/runtime/vocabulary.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

// Splits UTF-8 text into characters.
std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    characters.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return characters;
}

std::optional<int64_t> ParseNumber(std::string_view word) {
  int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (word.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// What is wrong with a list of symbols for `size` tokens; "" when nothing is.
std::string Problem(const std::vector<std::string>& symbols, int64_t size) {
  if (static_cast<int64_t>(symbols.size()) > size) {
    return fmt::format("expected at most {} symbols, got {}", size, symbols.size());
  }
  std::set<std::string_view> seen;
  for (const std::string& symbol : symbols) {
    if (symbol.empty()) return "expected symbols of at least one character, got \"\"";
    if (!seen.insert(symbol).second) return fmt::format("expected different symbols, got \"{}\" twice", symbol);
  }
  return "";
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> symbols, int64_t size) : symbols_(std::move(symbols)), size_(size) {
  const std::string problem = Problem(symbols_, size);
  LRNN_CHECK(problem.empty(), "[Vocabulary] {}", problem);
  for (size_t i = 0; i < symbols_.size(); ++i) tokens_.emplace(symbols_[i], static_cast<int32_t>(i));
}

Vocabulary Vocabulary::FromConfig(const Fields& config) {
  const int64_t size = config.PositiveInt("vocab_size");
  if (!config.Has("lrnn")) return Vocabulary({}, size);
  const Fields ours = config.Object("lrnn");
  std::vector<std::string> symbols = ours.Has("symbols") ? ours.Strings("symbols") : std::vector<std::string>{};
  const std::string problem = Problem(symbols, size);
  LRNN_CHECK(problem.empty(), "{}: field \"lrnn.symbols\": {}", config.source(), problem);
  Vocabulary vocabulary(std::move(symbols), size);
  vocabulary.task_ = ours.String("task", "");
  return vocabulary;
}

std::vector<int32_t> Vocabulary::Parse(std::string_view word) const {
  if (const auto whole = tokens_.find(word); whole != tokens_.end()) return {whole->second};

  std::vector<int32_t> letters;
  const std::vector<std::string_view> characters = Characters(word);
  for (std::string_view character : characters) {
    const auto letter = tokens_.find(character);
    if (letter == tokens_.end()) break;
    letters.push_back(letter->second);
  }
  if (!word.empty() && letters.size() == characters.size()) return letters;

  const std::optional<int64_t> number = ParseNumber(word);
  if (number && *number >= static_cast<int64_t>(symbols_.size()) && *number < size_) {
    return {static_cast<int32_t>(*number)};
  }
  Fail("unknown word \"{}\": expected {}", word, Describe());
}

std::string Vocabulary::Name(int32_t token) const {
  LRNN_CHECK(token >= 0 && token < size_, "[Vocabulary::Name] expected a token in 0 .. {}, got {}", size_ - 1, token);
  return token < static_cast<int64_t>(symbols_.size()) ? symbols_[token] : std::to_string(token);
}

std::string Vocabulary::Describe() const {
  constexpr size_t kShown = 40;
  const int64_t named = static_cast<int64_t>(symbols_.size());
  std::string text;
  if (named > 0) {
    const std::span<const std::string> shown = std::span(symbols_).first(std::min(kShown, symbols_.size()));
    text = fmt::format("one of the symbols {}", fmt::join(shown, " "));
    if (symbols_.size() > kShown) text += fmt::format(" ... ({} in all)", named);
  }
  if (named < size_) text += fmt::format("{}a token number {} .. {}", named > 0 ? " or " : "", named, size_ - 1);
  return text;
}

}  // namespace lrnn
