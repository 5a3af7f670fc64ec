// What machine this is: results name it.
#pragma once

#include <string>

namespace lrnn {

std::string CpuName();  // "AMD EPYC 9R14", or "unknown CPU"
int CpuCount();         // how many threads of this process can run at once, at least 1

}  // namespace lrnn
