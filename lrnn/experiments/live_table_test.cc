#include "lrnn/experiments/live_table.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

class LiveTableTest : public testing::Test {
 protected:
  LiveTableTest() : out_(std::tmpfile()) {}
  ~LiveTableTest() override { std::fclose(out_); }

  LiveTable::Options Options(bool is_terminal) {
    return {.out = out_, .is_terminal = is_terminal, .columns = 12, .seconds = [this] { return now_; }};
  }

  std::string Text() {
    std::rewind(out_);
    std::string text;
    for (int c; (c = std::fgetc(out_)) != EOF;) text += static_cast<char>(c);
    return text;
  }

  std::FILE* out_;
  double now_ = 0;
};

TEST_F(LiveTableTest, ATerminalIsRedrawnInPlace) {
  {
    LiveTable table(Options(true));
    table.Show({"first", "a line that is too long"});
    table.Say("lasting");
    now_ = 0.1;
    table.Show({"too early"});
    now_ = 0.3;
    table.Show({"second"});
  }
  EXPECT_EQ(Text(),
            "first\na line that\n"
            "\x1b[2A\x1b[Jlasting\nfirst\na line that\n"
            "\x1b[2A\x1b[Jsecond\n"
            "\x1b[1A\x1b[J");
}

TEST_F(LiveTableTest, ALogGetsAFewLines) {
  {
    LiveTable table(Options(false));
    table.Show({"first", "detail"});
    table.Say("lasting");
    now_ = 59;
    table.Show({"too early"});
    now_ = 60;
    table.Show({"second"});
  }
  EXPECT_EQ(Text(), "first\nlasting\nsecond\n");
}

TEST_F(LiveTableTest, SilentWithoutAPlace) {
  LiveTable table(LiveTable::Options{});
  table.Say("nothing");
  table.Show({"nothing"});
  EXPECT_EQ(Text(), "");
}

TEST(BarText, Eighths) {
  EXPECT_EQ(BarText(0, 2), "··");
  EXPECT_EQ(BarText(1, 2), "██");
  EXPECT_EQ(BarText(0.75, 2), "█▌");
  EXPECT_EQ(BarText(7, 1), "█");
}

}  // namespace
}  // namespace lrnn
