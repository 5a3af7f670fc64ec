#include "lrnn/base/hardware.h"

#include <algorithm>
#include <fstream>
#include <thread>

namespace lrnn {

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

int CpuCount() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace lrnn
