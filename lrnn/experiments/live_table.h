// Lines at the bottom of a terminal that change in place, with lasting lines above them; elsewhere plain lines.
//
//   LiveTable table({.out = stderr});
//   table.Say("done  parity_mlstm-lr0.001-seed1");         stays
//   table.Show({"2 of 18 runs done, 0:12:00 to go", "..."});  replaced by the next Show
//
// Where there is no terminal only the first line of what is shown is written, at most once in `line_seconds`.
#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lrnn {

class LiveTable {
 public:
  struct Options {
    std::FILE* out = nullptr;  // nullptr: silent
    double line_seconds = 60;
    double redraw_seconds = 0.2;
    std::optional<bool> is_terminal = {};  // default: ask the system about `out`
    int columns = 0;                       // 0: ask the terminal
    std::function<double()> seconds = {};  // the time; default: a steady clock
  };

  explicit LiveTable(Options options);
  ~LiveTable();  // takes the changing lines away
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  void Say(const std::string& line);
  void Show(const std::vector<std::string>& lines);

 private:
  void Erase();
  void Draw();

  Options options_;
  bool is_terminal_ = false;
  double next_ = 0;
  size_t drawn_ = 0;  // lines on the screen
  std::vector<std::string> lines_;
};

// "######----" with blocks of an eighth: `share` of `width` columns.
std::string BarText(double share, int width);

}  // namespace lrnn
