// How far a run is that another process trains: the end of its metrics.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lrnn {

struct RunProgress {
  int64_t step = 0;
  double loss = 0;     // not a number where there is none
  double seconds = 0;  // of training, by its own clock
};

// Zeros when nothing is logged yet. Reads the last lines only.
RunProgress ReadRunProgress(const std::filesystem::path& metrics);

// The last line of a log that is not empty, "" when there is none: why a program failed.
std::string LastLine(const std::filesystem::path& log);

}  // namespace lrnn
