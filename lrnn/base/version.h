// The version of lrnn; CMakeLists.txt reads it here.
#pragma once

#include <string_view>

namespace lrnn {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace lrnn
