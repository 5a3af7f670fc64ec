// Errors: what a caller got wrong, and what went wrong although the caller was right.
//
// Messages of functions start with the function in brackets and end with the offending value,
//   [delta_rule] expected beta of shape [T, H] = [7, 4], got [7, 3]
// messages about files and command lines start with the place,
//   parity.toml:7: unknown key "step" in [train] (did you mean "steps"?)
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace lrnn {

// Bad input: a wrong argument, shape, file or command line. The `lrnn` program ends with exit code 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The input was fine and the work could not be done all the same: disk full, loss not finite. Exit code 1.
class Failure : public Error {
 public:
  using Error::Error;
};

template <typename... Args>
[[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

// LRNN_CHECK(k.size(0) == tokens, "[delta_rule] expected k of {} tokens, got {}", tokens, k.size(0));
#define LRNN_CHECK(condition, ...)               \
  do {                                           \
    if (!(condition)) ::lrnn::Fail(__VA_ARGS__); \
  } while (false)

}  // namespace lrnn
