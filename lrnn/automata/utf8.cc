#include "lrnn/automata/utf8.h"

namespace lrnn {

Utf8Character DecodeUtf8(std::string_view text, size_t offset) {
  if (offset >= text.size()) return {};
  const uint8_t first = static_cast<uint8_t>(text[offset]);
  if (first < 0x80) return {first, 1};
  const int bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - offset < static_cast<size_t>(bytes)) return {};
  uint32_t code = first & (0x7F >> bytes);
  for (int i = 1; i < bytes; ++i) {
    if (!IsUtf8Continuation(text[offset + i])) return {};
    code = code << 6 | (static_cast<uint8_t>(text[offset + i]) & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

std::string EncodeUtf8(uint32_t code) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace lrnn
