// For tests: the message of the Error that a call throws.
#pragma once

#include <string>

#include "lrnn/base/error.h"

namespace lrnn {

// MessageOf([&] { SafetensorsFile::Open(path); }); "" when nothing is thrown.
template <typename Call>
std::string MessageOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace lrnn
