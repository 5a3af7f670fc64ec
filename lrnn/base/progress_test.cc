#include "lrnn/base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace lrnn {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// A stream into memory and a clock that the test moves.
class ProgressTest : public testing::Test {
 protected:
  ProgressTest() : out_(open_memstream(&data_, &size_)) {}
  ~ProgressTest() override {
    std::fclose(out_);
    std::free(data_);
  }

  Progress::Options Options(bool is_terminal, int columns = 80) {
    return {.label = "train",
            .total = 1000,
            .unit = "steps",
            .out = out_,
            .is_terminal = is_terminal,
            .columns = columns,
            .seconds = [this] { return now_; }};
  }

  std::string Text() {
    std::fflush(out_);
    return {data_, size_};
  }

  std::vector<std::string> Lines(char separator) {
    std::vector<std::string> lines{""};
    for (char c : Text()) {
      if (c == separator) {
        lines.emplace_back();
      } else {
        lines.back() += c;
      }
    }
    return lines;
  }

  double now_ = 100;

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  std::FILE* out_;
};

int Characters(const std::string& text) {
  int count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

TEST_F(ProgressTest, PlainLinesAreRareAndTheLastOneIsThere) {
  {
    Progress progress(Options(false));
    for (int step = 1; step <= 100; ++step) {
      now_ += 0.12;
      progress.Set("loss", 1.0 / step);
      progress.Update(step);
    }
  }  // 12 seconds: lines at 5 s and 10 s, and the last state
  EXPECT_EQ(Text(),
            "train   4%  42/1000  8.33 steps/s  ETA 1:55  loss 0.02381\n"
            "train   8%  84/1000  8.33 steps/s  ETA 1:50  loss 0.0119\n"
            "train  10%  100/1000  8.33 steps/s  ETA 1:48  loss 0.01\n");
}

TEST_F(ProgressTest, TheLastLineIsNotRepeated) {
  Progress progress(Options(false));
  now_ += 10;
  progress.Update(1000);
  progress.Finish();
  progress.Finish();
  progress.Update(1000);
  EXPECT_EQ(Text(), "train 100%  1000/1000  100 steps/s  in 0:10\n");
}

TEST_F(ProgressTest, TerminalLineIsRedrawnInPlaceAtMostTenTimesASecond) {
  {
    Progress progress(Options(true));
    for (int step = 1; step <= 1000; ++step) {
      now_ += 0.001;
      progress.Update(step);
    }
  }
  const std::vector<std::string> draws = Lines('\r');
  EXPECT_GE(draws.size(), 10);
  EXPECT_LE(draws.size(), 13);
  EXPECT_THAT(draws.back(), HasSubstr("train 100% ██████████"));
  EXPECT_THAT(draws.back(), EndsWith("1000/1000  1000 steps/s  in 0:01\x1b[K\n"));
  EXPECT_EQ(Lines('\n').size(), 2);  // one newline, at the end
}

TEST_F(ProgressTest, TerminalLineFitsItsWidth) {
  for (int columns : {1, 10, 30, 40, 50, 60, 80, 200}) {
    Progress progress(Options(true, columns));
    progress.Set("loss", 0.25);
    progress.Set("note", "größer");
    now_ += 1;
    progress.Update(333);
    const std::string line = Lines('\r').back();
    ASSERT_THAT(line, EndsWith("\x1b[K"));
    EXPECT_LT(Characters(line) - 3, columns);
    if (columns >= 80) {
      EXPECT_THAT(line, EndsWith("loss 0.25  note größer\x1b[K"));
    }
  }
}

TEST_F(ProgressTest, BarShowsEighths) {
  auto options = Options(true, 49);
  options.label = "x";
  Progress progress(options);
  now_ += 1;
  progress.Update(500);
  // 48 columns less 6 for "x  50%", 31 for the rest and 3 blanks leave 8 for the bar: half of it is 4.
  EXPECT_EQ(Lines('\r').back(), "x  50% ████      500/1000  500 steps/s  ETA 0:01\x1b[K");
  now_ += 1;
  progress.Update(437);
  EXPECT_THAT(Lines('\r').back(), HasSubstr("x  43% ███▍"));
}

TEST_F(ProgressTest, AResumedRunCountsOnlyItsOwnWork) {
  auto options = Options(false);
  options.start = 900;
  Progress progress(options);
  now_ += 10;
  progress.Update(950);
  EXPECT_EQ(Text(), "train  95%  950/1000  5 steps/s  ETA 0:10\n");
}

TEST_F(ProgressTest, UnknownTotalHasNoBarAndNoEta) {
  auto options = Options(true);
  options.total = 0;
  Progress progress(options);
  now_ += 2;
  progress.Update(50000);
  EXPECT_EQ(Text(), "\rtrain  50000  25k steps/s\x1b[K");
}

TEST_F(ProgressTest, WithoutAStreamNothingHappens) {
  auto options = Options(true);
  options.out = nullptr;
  Progress progress(options);
  progress.Update(1);
  progress.Finish();
  EXPECT_EQ(Text(), "");
}

TEST(FormatSeconds, Forms) {
  EXPECT_EQ(FormatSeconds(8.4), "0:08");
  EXPECT_EQ(FormatSeconds(725), "12:05");
  EXPECT_EQ(FormatSeconds(10929), "3:02:09");
}

}  // namespace
}  // namespace lrnn
