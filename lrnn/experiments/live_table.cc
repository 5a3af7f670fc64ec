#include "lrnn/experiments/live_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lrnn {
namespace {

int TerminalColumns(std::FILE* out) {
  winsize size{};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// The first `columns` characters: bytes that continue a UTF-8 character take no column.
std::string Cut(const std::string& text, int columns) {
  int used = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && ++used > columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::string BarText(double share, int width) {
  const int eighths = static_cast<int>(std::floor(std::clamp(share, 0.0, 1.0) * width * 8));
  std::string bar;
  for (int i = 0; i < width; ++i) {
    const int part = std::clamp(eighths - 8 * i, 0, 8);
    // U+2588 is the full block, U+258F one eighth of it.
    bar += part == 0 ? "\u00b7" : fmt::format("\xe2\x96{}", static_cast<char>(0x90 - part));
  }
  return bar;
}

LiveTable::LiveTable(Options options) : options_(std::move(options)) {
  if (!options_.out) return;
  is_terminal_ = options_.is_terminal.value_or(isatty(fileno(options_.out)) != 0);
  if (!options_.seconds) {
    options_.seconds = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
  }
}

LiveTable::~LiveTable() {
  if (!options_.out) return;
  Erase();
  std::fflush(options_.out);
}

void LiveTable::Say(const std::string& line) {
  if (!options_.out) return;
  Erase();
  fmt::print(options_.out, "{}\n", line);
  Draw();
}

void LiveTable::Show(const std::vector<std::string>& lines) {
  if (!options_.out || lines.empty()) return;
  lines_ = lines;
  if (options_.seconds() < next_) return;
  next_ = options_.seconds() + (is_terminal_ ? options_.redraw_seconds : options_.line_seconds);
  if (!is_terminal_) fmt::print(options_.out, "{}\n", lines[0]);
  Erase();
  Draw();
}

void LiveTable::Erase() {
  if (drawn_ > 0) fmt::print(options_.out, "\x1b[{}A\x1b[J", drawn_);  // up, and clear from here on
  drawn_ = 0;
}

void LiveTable::Draw() {
  if (is_terminal_) {
    const int columns = options_.columns > 0 ? options_.columns : TerminalColumns(options_.out);
    for (const std::string& line : lines_) fmt::print(options_.out, "{}\n", Cut(line, columns - 1));
    drawn_ = lines_.size();
  }
  std::fflush(options_.out);
}

}  // namespace lrnn
