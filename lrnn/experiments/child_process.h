// A program that runs beside this one, its output in a log.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lrnn {

class ChildProcess {
 public:
  // Starts arguments[0] (a path). What it prints is appended to `log`. It has a process group of its own, so that
  // Ctrl-C reaches only its parent, which decides; it is killed when the parent dies (Linux). A program that cannot be
  // started is a Failure.
  ChildProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log);
  ~ChildProcess();  // kills it if it still runs
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  // Its exit code once it has ended, 128 + signal when it was killed.
  std::optional<int> Poll();

  void Signal(int signal);

 private:
  pid_t pid_;
  std::optional<int> code_;
};

}  // namespace lrnn
