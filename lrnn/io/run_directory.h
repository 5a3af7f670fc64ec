// A run on disk, what training writes and every other command reads:
//
//   config.toml                   what was asked for
//   metrics.jsonl                 one line per report while training
//   checkpoints/step-00000200/    states to go on from; the newest is also the model
//   train.json  eval.json  spectrum.json  report.html       results, each written by the command of that name
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace lrnn {

struct Checkpoint {
  int64_t step;
  std::filesystem::path path;
};

class RunDirectory {
 public:
  // Makes a new run. A directory that is there already must be empty.
  static RunDirectory Create(const std::filesystem::path& path, std::string_view config_text);

  // An Error says what is missing when the path is not a run.
  static RunDirectory Open(const std::filesystem::path& path);

  // True when there is a config.toml in the directory.
  static bool IsRun(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config_path() const { return path_ / "config.toml"; }
  std::filesystem::path metrics_path() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path train_path() const { return path_ / "train.json"; }
  std::filesystem::path eval_path() const { return path_ / "eval.json"; }
  std::filesystem::path spectrum_path() const { return path_ / "spectrum.json"; }
  std::filesystem::path report_path() const { return path_ / "report.html"; }
  std::filesystem::path checkpoints_path() const { return path_ / "checkpoints"; }
  std::filesystem::path checkpoint_path(int64_t step) const;

  // The complete ones, by step.
  std::vector<Checkpoint> Checkpoints() const;

  // The newest one; an Error when there is none.
  Checkpoint LatestCheckpoint() const;

  // Calls fill(directory) to write the files of a checkpoint, makes them durable and publishes all of them at once, in
  // place of an earlier checkpoint of that step. Then removes all but the newest `keep`. When fill throws, nothing has
  // changed.
  void WriteCheckpoint(int64_t step, const std::function<void(const std::filesystem::path&)>& fill, int keep = 2) const;

  // Removes what a crash left half-written. Only for the process that owns the run.
  void RemoveLeftovers() const;

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace lrnn
