// The files that a task's parameters name.
#pragma once

#include <string>

namespace lrnn {

// The whole file; an Error names the path when it cannot be read.
std::string ReadTextFile(const std::string& path);

}  // namespace lrnn
