// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lrnn {

struct Utf8Character {
  uint32_t code = 0;
  int bytes = 0;  // 0: no character begins there (the end, a stray or cut sequence, an overlong form, a surrogate)
};

Utf8Character DecodeUtf8(std::string_view text, size_t offset);

std::string EncodeUtf8(uint32_t code);  // code <= U+10FFFF

// Whether the byte continues a character rather than beginning one.
inline bool IsUtf8Continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace lrnn
