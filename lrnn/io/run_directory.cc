#include "lrnn/io/run_directory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"

namespace lrnn {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kStepPrefix = "step-";

// The step of "step-00000200"; nothing for other names.
std::optional<int64_t> StepOf(const std::string& name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kStepPrefix.size(), end, step);
  if (error != std::errc() || stop != end || step < 0) return std::nullopt;
  return step;
}

void MakeDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Failure(fmt::format("{}: cannot create: {}", path.string(), error.message()));
}

void RemoveTemporaries(const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (!IsTemporaryName(entry.path())) continue;
    std::error_code error;
    fs::remove_all(entry.path(), error);
    if (error) throw Failure(fmt::format("{}: cannot remove: {}", entry.path().string(), error.message()));
  }
}

}  // namespace

RunDirectory RunDirectory::Create(const fs::path& path, std::string_view config_text) {
  std::error_code ignored;
  const bool is_directory = fs::is_directory(path, ignored);
  LRNN_CHECK(is_directory || !fs::exists(path, ignored), "{}: expected a directory for the run, got a file",
             path.string());
  LRNN_CHECK(!is_directory || fs::is_empty(path, ignored),
             "{}: the directory is not empty; continue its run with --resume or choose another one with --out",
             path.string());
  RunDirectory run(path);
  MakeDirectories(run.checkpoints_path());
  WriteFileAtomically(run.config_path(), config_text);  // last: with it the directory is a run
  return run;
}

RunDirectory RunDirectory::Open(const fs::path& path) {
  std::error_code ignored;
  LRNN_CHECK(fs::is_directory(path, ignored), "{}: expected a run directory, got {}", path.string(),
             fs::exists(path, ignored) ? "a file" : "nothing of that name");
  LRNN_CHECK(IsRun(path), "{}: not a run directory: config.toml is missing", path.string());
  return RunDirectory(path);
}

bool RunDirectory::IsRun(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / "config.toml", ignored);
}

fs::path RunDirectory::checkpoint_path(int64_t step) const {
  return checkpoints_path() / fmt::format("{}{:08}", kStepPrefix, step);
}

std::vector<Checkpoint> RunDirectory::Checkpoints() const {
  std::vector<Checkpoint> checkpoints;
  std::error_code ignored;  // no folder, no checkpoints
  for (const fs::directory_entry& entry : fs::directory_iterator(checkpoints_path(), ignored)) {
    const std::optional<int64_t> step = StepOf(entry.path().filename().string());
    if (step.has_value() && entry.is_directory()) checkpoints.push_back({*step, entry.path()});
  }
  std::sort(checkpoints.begin(), checkpoints.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return checkpoints;
}

Checkpoint RunDirectory::LatestCheckpoint() const {
  const std::vector<Checkpoint> checkpoints = Checkpoints();
  LRNN_CHECK(!checkpoints.empty(), "{}: the run has no checkpoint yet", path_.string());
  return checkpoints.back();
}

void RunDirectory::WriteCheckpoint(int64_t step, const std::function<void(const fs::path&)>& fill, int keep) const {
  LRNN_CHECK(step >= 0, "[WriteCheckpoint] expected step >= 0, got {}", step);
  LRNN_CHECK(keep >= 1, "[WriteCheckpoint] expected keep >= 1, got {}", keep);
  MakeDirectories(checkpoints_path());
  {
    AtomicDirectory directory(checkpoint_path(step));
    fill(directory.path());
    directory.Commit();
  }
  const std::vector<Checkpoint> checkpoints = Checkpoints();
  for (size_t i = 0; i + keep < checkpoints.size(); ++i) {
    if (checkpoints[i].step != step) RemoveDirectoryAtomically(checkpoints[i].path);
  }
}

void RunDirectory::RemoveLeftovers() const {
  RemoveTemporaries(path_);
  if (fs::is_directory(checkpoints_path())) RemoveTemporaries(checkpoints_path());
}

}  // namespace lrnn
