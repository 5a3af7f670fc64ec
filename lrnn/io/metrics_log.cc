#include "lrnn/io/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"

namespace lrnn {
namespace {

[[noreturn]] void FailSystem(const std::filesystem::path& path, std::string_view action) {
  throw Failure(fmt::format("{}: cannot {}: {}", path.string(), action, std::generic_category().message(errno)));
}

struct Line {
  std::string_view text;  // without the newline
  nlohmann::json object;
};

// The lines of a log without its torn end: text after the last newline that is not a whole object.
std::vector<Line> ParseLines(std::string_view text, const std::filesystem::path& path) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const size_t newline = text.find('\n');
    const bool is_terminated = newline != std::string_view::npos;
    Line line{text.substr(0, newline), nullptr};
    text.remove_prefix(is_terminated ? newline + 1 : text.size());
    try {
      line.object = ParseJson(line.text, "");
      LRNN_CHECK(line.object.is_object(), "not an object");
    } catch (const Error&) {
      if (!is_terminated) break;
      constexpr size_t kShown = 60;
      Fail("{}:{}: expected one JSON object on a line, got {}{}", path.string(), number, line.text.substr(0, kShown),
           line.text.size() > kShown ? "..." : "");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

MetricsLog::MetricsLog(std::filesystem::path path) : path_(std::move(path)) { Open(); }

MetricsLog::~MetricsLog() { Close(); }

void MetricsLog::Open() {
  if (std::filesystem::exists(path_)) {
    // Ends the last line or drops what is torn, else the next line would be glued to it.
    const std::string text = ReadFile(path_);
    if (!text.empty() && text.back() != '\n') {
      std::string repaired;
      for (const Line& line : ParseLines(text, path_)) repaired.append(line.text) += '\n';
      WriteFileAtomically(path_, repaired);
    }
  }
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) FailSystem(path_, "open");
}

void MetricsLog::Close() {
  if (file_ >= 0) close(std::exchange(file_, -1));
}

void MetricsLog::Append(const nlohmann::json& object) {
  LRNN_CHECK(object.is_object(), "[MetricsLog::Append] expected a JSON object, got {}", object.type_name());
  const std::string text = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = write(file_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(count);
    } else if (errno != EINTR) {
      FailSystem(path_, "write");
    }
  }
}

void MetricsLog::TruncateAfter(int64_t step) {
  const std::string text = ReadFile(path_);
  std::string kept;
  for (const Line& line : ParseLines(text, path_)) {
    const auto field = line.object.find("step");
    const bool is_later = field != line.object.end() && field->is_number() && *field > step;
    if (!is_later) kept.append(line.text) += '\n';
  }
  if (kept == text) return;
  Close();
  WriteFileAtomically(path_, kept);
  Open();
}

std::vector<nlohmann::json> ReadMetrics(const std::filesystem::path& path) {
  const std::string text = ReadFile(path);
  std::vector<nlohmann::json> objects;
  for (Line& line : ParseLines(text, path)) objects.push_back(std::move(line.object));
  return objects;
}

}  // namespace lrnn
