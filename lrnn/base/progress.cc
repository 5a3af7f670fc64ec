#include "lrnn/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lrnn {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr int kMaxBar = 40;
constexpr int kMinBar = 8;

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Columns on the screen: one for each UTF-8 character.
int Width(std::string_view text) { return static_cast<int>(std::count_if(text.begin(), text.end(), StartsCharacter)); }

// The first `columns` characters.
std::string_view Cut(std::string_view text, int columns) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (StartsCharacter(text[end]) && columns-- == 0) break;
  }
  return text.substr(0, end);
}

// `columns` wide, in steps of an eighth of a character.
std::string Bar(double fraction, int columns) {
  static constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(fraction * columns * 8);
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  bar.append(columns - Width(bar), ' ');
  return bar;
}

std::string FormatRate(double rate) {
  if (rate >= 1e6) return fmt::format("{:.3g}M", rate / 1e6);
  if (rate >= 1e4) return fmt::format("{:.3g}k", rate / 1e3);
  return rate >= 100 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

}  // namespace

std::string FormatSeconds(double seconds) {
  const int64_t whole = std::llround(std::clamp(seconds, 0.0, 1e9));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

Progress::Progress(Options options) : options_(std::move(options)), done_(options_.start) {
  if (!options_.seconds) options_.seconds = SteadySeconds;
  is_terminal_ = options_.is_terminal.value_or(options_.out != nullptr && isatty(fileno(options_.out)) == 1);
  begin_ = options_.seconds();
  next_draw_ = is_terminal_ ? begin_ : begin_ + options_.line_seconds;
}

Progress::~Progress() { Finish(); }

void Progress::Set(std::string_view name, double value) { Set(name, fmt::format("{:.4g}", value)); }

void Progress::Set(std::string_view name, std::string value) {
  is_drawn_ = false;
  for (auto& [known, shown] : fields_) {
    if (known == name) {
      shown = std::move(value);
      return;
    }
  }
  fields_.emplace_back(name, std::move(value));
}

void Progress::Update(int64_t done) {
  done_ = done;
  is_drawn_ = false;
  const double now = options_.seconds();
  if (is_finished_ || now < next_draw_) return;
  next_draw_ = now + (is_terminal_ ? kRedrawSeconds : options_.line_seconds);
  Draw();
}

void Progress::Finish() {
  if (is_finished_) return;
  if (!is_drawn_) Draw();
  is_finished_ = true;
  if (options_.out == nullptr || !is_terminal_) return;
  std::fputc('\n', options_.out);
  std::fflush(options_.out);
}

int Progress::Columns() const {
  if (options_.columns > 0) return options_.columns;
  winsize size{};
  const bool is_known = ioctl(fileno(options_.out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

void Progress::Draw() {
  is_drawn_ = true;
  if (options_.out == nullptr) return;
  const double elapsed = options_.seconds() - begin_;
  const double rate = elapsed > 0 ? static_cast<double>(done_ - options_.start) / elapsed : 0;
  const bool has_total = options_.total > 0;
  const double fraction =
      has_total ? std::clamp(static_cast<double>(done_) / static_cast<double>(options_.total), 0.0, 1.0) : 0;

  std::string head = options_.label;
  if (has_total) head += fmt::format(" {:3}%", static_cast<int>(fraction * 100));
  std::string tail = has_total ? fmt::format("{}/{}", done_, options_.total) : fmt::format("{}", done_);
  if (rate > 0) tail += fmt::format("  {} {}/s", FormatRate(rate), options_.unit);
  if (has_total && done_ >= options_.total) {
    tail += fmt::format("  in {}", FormatSeconds(elapsed));
  } else if (has_total && rate > 0) {
    tail += fmt::format("  ETA {}", FormatSeconds(static_cast<double>(options_.total - done_) / rate));
  }
  for (const auto& [name, value] : fields_) tail += fmt::format("  {} {}", name, value);

  if (!is_terminal_) {
    std::fputs(fmt::format("{}  {}\n", head, tail).c_str(), options_.out);
  } else {
    // The bar takes what the rest leaves; without room for it the line is cut. The last column stays free: some
    // terminals wrap as soon as it is written.
    const int columns = Columns() - 1;
    const int bar = std::min(kMaxBar, columns - Width(head) - Width(tail) - 3);
    const std::string middle = has_total && bar >= kMinBar ? " " + Bar(fraction, bar) : "";
    const std::string line = fmt::format("{}{}  {}", head, middle, tail);
    std::fputs(fmt::format("\r{}\x1b[K", Cut(line, columns)).c_str(), options_.out);
  }
  std::fflush(options_.out);
}

}  // namespace lrnn
