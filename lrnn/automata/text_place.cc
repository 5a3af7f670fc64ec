#include "lrnn/automata/text_place.h"

#include <algorithm>

#include "lrnn/automata/utf8.h"

namespace lrnn {
namespace {

constexpr int kBefore = 50;        // characters shown before the caret
constexpr int kAfter = 25;         // and from it on
constexpr int kMessageHead = 150;  // characters kept of a message that quotes a long word
constexpr int kMessageTail = 100;

// The byte `characters` characters before or after `offset`, at most at `limit`.
size_t StepBack(std::string_view text, size_t offset, size_t limit, int characters) {
  for (; characters > 0 && offset > limit; --characters) {
    --offset;
    while (offset > limit && IsUtf8Continuation(text[offset])) --offset;
  }
  return offset;
}

size_t StepForward(std::string_view text, size_t offset, size_t limit, int characters) {
  for (; characters > 0 && offset < limit; --characters) {
    ++offset;
    while (offset < limit && IsUtf8Continuation(text[offset])) ++offset;
  }
  return offset;
}

size_t CountCharacters(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), IsUtf8Continuation));
}

// Each character as one column: control characters (tabs among them) become spaces, bytes that are no UTF-8 become ?.
std::string Printable(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    const Utf8Character character = DecodeUtf8(text, i);
    if (character.bytes == 0) {
      shown += '?';
      ++i;
    } else {
      if (character.code < 0x20 || character.code == 0x7F) {
        shown += ' ';
      } else {
        shown += text.substr(i, character.bytes);
      }
      i += character.bytes;
    }
  }
  return shown;
}

// A message with its middle left out when it is long.
std::string Shortened(std::string_view message) {
  if (CountCharacters(message) <= kMessageHead + kMessageTail) return std::string(message);
  const size_t head = StepForward(message, 0, message.size(), kMessageHead);
  const size_t tail = StepBack(message, message.size(), head, kMessageTail);
  return fmt::format("{}...{}", message.substr(0, head), message.substr(tail));
}

}  // namespace

std::string MessageAt(std::string_view source, std::string_view text, size_t offset, std::string_view message) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t newline = before.rfind('\n');
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = std::min(text.find('\n', offset), text.size());
  const size_t column = 1 + CountCharacters(text.substr(begin, offset - begin));

  const size_t first = StepBack(text, offset, begin, kBefore);
  const size_t last = StepForward(text, offset, end, kAfter);
  const std::string lead = std::string(first > begin ? "..." : "") + Printable(text.substr(first, offset - first));
  const std::string rest = Printable(text.substr(offset, last - offset)) + (last < end ? "..." : "");
  return fmt::format("{}:{}:{}: {}\n  {}{}\n  {:>{}}", source, line, column, Shortened(message), lead, rest, "^",
                     CountCharacters(lead) + 1);
}

}  // namespace lrnn
