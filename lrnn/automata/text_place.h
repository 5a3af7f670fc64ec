// A place in a text a user wrote, shown so that it can be found at once:
//
//   parity.dfa:4:12: unknown state 'od'
//     even: even od
//                ^
//
// Lines and columns count from 1, columns in characters (UTF-8 code points). A long line is cut around the caret, a
// long message in the middle.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "lrnn/base/error.h"

namespace lrnn {

// The message above for the character at byte `offset` of `text`; offset text.size() is the end.
std::string MessageAt(std::string_view source, std::string_view text, size_t offset, std::string_view message);

// A text with the name it has in messages: a file's path, or "regex".
struct SourceText {
  std::string_view text;
  std::string_view source;

  template <typename... Args>
  [[noreturn]] void FailAt(size_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(MessageAt(source, text, offset, fmt::format(format, std::forward<Args>(args)...)));
  }
};

}  // namespace lrnn
