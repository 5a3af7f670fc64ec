#include "lrnn/experiments/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <cstring>
#include <utility>

#include "lrnn/base/error.h"

namespace lrnn {

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (output < 0) throw Failure(fmt::format("{}: {}", log.string(), std::strerror(errno)));
  // The pipe closes when the program has started, or brings the reason why it has not.
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    close(output);
    throw Failure(fmt::format("{}: {}", arguments[0], std::strerror(errno)));
  }
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before the line above
#endif
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(argv[0], argv.data());
    const int reason = errno;
    (void)!write(report[1], &reason, sizeof(reason));
    _exit(127);
  }
  const int fork_reason = errno;
  close(output);
  close(report[1]);
  int reason = 0;
  const bool has_failed = pid_ < 0 || read(report[0], &reason, sizeof(reason)) == sizeof(reason);
  close(report[0]);
  if (!has_failed) return;
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  throw Failure(fmt::format("{}: cannot be started: {}", arguments[0], std::strerror(pid_ < 0 ? fork_reason : reason)));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)), code_(other.code_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || code_) return;
  Signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<int> ChildProcess::Poll() {
  int status = 0;
  if (!code_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return code_;
}

void ChildProcess::Signal(int signal) {
  if (!code_) kill(pid_, signal);
}

}  // namespace lrnn
