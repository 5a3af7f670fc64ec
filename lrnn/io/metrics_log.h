// metrics.jsonl: one JSON object per line, appended while a run goes on.
//
//   {"step": 200, "loss": 0.31, "lr": 0.001}
//
// A line reaches the file in one piece, so that a reader (or a crash) meets whole lines, but for the last one: a
// process that was killed while writing, or a power cut, may leave its beginning. That torn line is ignored when
// reading and dropped when the log is opened again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace lrnn {

class MetricsLog {
 public:
  // Opens the log for appending, creates it when it is not there.
  explicit MetricsLog(std::filesystem::path path);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  // Writes one line. Numbers that are not finite become null.
  void Append(const nlohmann::json& object);

  // Drops the lines whose "step" is greater, for a run that goes on from a checkpoint of that step. Replaces the file
  // atomically; lines without a step stay.
  void TruncateAfter(int64_t step);

 private:
  void Open();
  void Close();

  std::filesystem::path path_;
  int file_ = -1;
};

// All lines. A corrupt line other than a torn last one is an Error that starts with `file:line`.
std::vector<nlohmann::json> ReadMetrics(const std::filesystem::path& path);

}  // namespace lrnn
