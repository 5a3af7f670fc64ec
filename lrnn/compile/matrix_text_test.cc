#include "lrnn/compile/matrix_text.h"

#include <gmock/gmock.h>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

TEST(MatrixText, LinesCsvAndJson) {
  const Matrix turn{{0, -1}, {1, 0.5}};
  EXPECT_EQ(ReadMatrix("# a turn\n0 -1\n\n 1\t0.5 # and a half\n", "m.txt"), turn);
  EXPECT_EQ(ReadMatrix("0,-1\r\n+1,5e-1\r\n", "m.csv"), turn);
  EXPECT_EQ(ReadMatrix("0; -1\n1; .5", "m.csv"), turn);
  EXPECT_EQ(ReadMatrix(" [[0, -1], [1, 0.5]]\n", "m.json"), turn);
  EXPECT_EQ(ReadMatrix("0 0 1", "m.txt"), (Matrix{{0, 0, 1}}));
}

std::string ErrorOf(const std::string& text) {
  try {
    ReadMatrix(text, "m.txt");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MatrixText, Errors) {
  EXPECT_THAT(ErrorOf("1 0\n0 one\n"),
              testing::HasSubstr("m.txt:2:3: expected a finite number, got 'one'\n  0 one\n    ^"));
  EXPECT_THAT(ErrorOf("1 nan"), testing::HasSubstr("m.txt:1:3: expected a finite number, got 'nan'"));
  EXPECT_THAT(ErrorOf("inf"), testing::HasSubstr("expected a finite number, got 'inf'"));
  EXPECT_THAT(ErrorOf("1e999"), testing::HasSubstr("expected a finite number, got '1e999'"));
  EXPECT_THAT(ErrorOf("1 0\n0\n"), testing::HasSubstr("m.txt:2:1: this row has 1 numbers, the first has 2"));
  EXPECT_THAT(ErrorOf(""), testing::HasSubstr("expected rows of numbers, got none"));
  EXPECT_THAT(ErrorOf("# nothing\n"), testing::HasSubstr("expected rows of numbers, got none"));
  std::string wide;
  for (int i = 0; i <= kMaxMatrixRows; ++i) wide += "0 ";
  EXPECT_THAT(ErrorOf(wide), testing::HasSubstr("at most 512 rows and columns are read"));
  EXPECT_THAT(ErrorOf("[[1, 0], [0]]"), testing::HasSubstr("m.txt: row 2 has 1 numbers, the first has 2"));
  EXPECT_THAT(ErrorOf("[[1, \"a\"]]"), testing::HasSubstr("m.txt: row 1: expected a number, got \"a\""));
  EXPECT_THAT(ErrorOf("[1]"), testing::HasSubstr("m.txt: row 1: expected a list of numbers"));
  EXPECT_THAT(ErrorOf("[[1, 0"), testing::HasSubstr("m.txt:1:"));
  EXPECT_THAT(ErrorOf("[]"), testing::HasSubstr("expected rows of numbers, got none"));
}

}  // namespace
}  // namespace lrnn
