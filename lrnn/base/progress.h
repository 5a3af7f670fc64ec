// A progress bar for long work, written only where the caller says.
//
//   Progress progress({.label = "train", .total = 2000, .unit = "steps", .out = stderr});
//   for (int64_t step = 1; step <= 2000; ++step) {
//     progress.Set("loss", loss);
//     progress.Update(step);
//   }
//
// On a terminal one line is redrawn in place, at most ten times a second:
//   train  42% ████████▍            840/2000  153 steps/s  ETA 0:08  loss 0.0123
// Elsewhere (a log file, a pipe) whole lines are written, at most one every few seconds, and the last one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lrnn {

class Progress {
 public:
  struct Options {
    std::string label;
    int64_t total = 0;  // 0: not known, no bar and no ETA
    int64_t start = 0;  // done before this process began (a resumed run): not counted in the rate
    std::string unit = "items";
    std::FILE* out = nullptr;              // nullptr: silent
    double line_seconds = 5;               // not a terminal: at most one line in so many seconds
    std::optional<bool> is_terminal = {};  // default: ask the system about `out`
    int columns = 0;                       // 0: ask the terminal at each redraw
    std::function<double()> seconds = {};  // the time; default: a steady clock
  };

  explicit Progress(Options options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A field shown behind the rest, in the order of the first Set. Shown with the next Update.
  void Set(std::string_view name, double value);  // four significant digits
  void Set(std::string_view name, std::string value);

  // So many are done now. Cheap enough for each step: draws only when it is time.
  void Update(int64_t done);

  // Draws the last state and ends the line. The destructor does it too.
  void Finish();

 private:
  void Draw();
  int Columns() const;

  Options options_;
  bool is_terminal_ = false;
  bool is_finished_ = false;
  bool is_drawn_ = false;  // the last state is on the screen
  int64_t done_ = 0;
  double begin_ = 0;
  double next_draw_ = 0;
  std::vector<std::pair<std::string, std::string>> fields_;
};

// "0:08", "12:05", "3:02:09".
std::string FormatSeconds(double seconds);

}  // namespace lrnn
