#include "lrnn/theory/transitions.h"

#include <gmock/gmock.h>

#include "lrnn/automata/regex.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/compiler.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

TEST(Transitions, OfCompiledParity) {
  const Transitions parity = TransitionsOf(Compile(FromRegex("(0|10*1)*"), {.mode = CompileMode::kRelax}).network);
  ASSERT_EQ(parity.layers.size(), 1);
  EXPECT_EQ(parity.layers[0].name, "layer 1 (level 1, sign)");
  EXPECT_EQ(parity.matrices(), 2);
  EXPECT_EQ(parity.depth(), 1);
  EXPECT_EQ(parity.layers[0].transitions[0].A, (Matrix{{1}}));
  EXPECT_EQ(parity.layers[0].transitions[1].A, (Matrix{{-1}}));
  EXPECT_EQ(parity.layers[0].transitions[1].B, (std::vector<double>{-2}));
}

// The last micro-step is the leftmost factor: swap with the delay, then write.
TEST(Transitions, MicroStepsInTheirOrder) {
  const Transitions slots = TransitionsOf(Compile(FromRegex("(ab)*"), {.mode = CompileMode::kRelax}).network);
  ASSERT_EQ(slots.layers.size(), 2);
  EXPECT_EQ(slots.layers[1].depth, 2);
  EXPECT_EQ(slots.layers[0].transitions[0].A, (Matrix{{0, 0}, {1, 0}}));
  EXPECT_THROW(TransitionsOf(Compile(FromRegex("(ab)*"), {.mode = CompileMode::kJit}).network), Error);
}

TEST(Transitions, Text) {
  const Transitions read = ReadTransitions(
      "# two layers\nlayer\nstart 1 0\ninput a\n0 1\n1 0\ninput b # nothing\n1 0\n0 1\noffset 0 0.5\nlayer\ninput x y\n"
      "-1\n",
      "m");
  ASSERT_EQ(read.layers.size(), 2);
  EXPECT_EQ(read.layers[0].start, (std::vector<double>{1, 0}));
  EXPECT_EQ(read.layers[0].transitions[0].input, "a");
  EXPECT_EQ(read.layers[0].transitions[0].A, (Matrix{{0, 1}, {1, 0}}));
  EXPECT_EQ(read.layers[0].transitions[1].A, Matrix::Identity(2));
  EXPECT_EQ(read.layers[0].transitions[1].input, "b");
  EXPECT_EQ(read.layers[0].transitions[1].B, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(read.layers[1].transitions[0].input, "x y");
  EXPECT_EQ(read.layers[1].depth, 2);
  EXPECT_EQ(ReadTransitions("input a\n1\n", "m").layers[0].transitions[0].A, (Matrix{{1}}));
  for (const char* plain : {"0 1\n1 0\n", "[[0, 1], [1, 0]]"}) {
    EXPECT_EQ(ReadTransitions(plain, "m").layers[0].transitions[0].A, (Matrix{{0, 1}, {1, 0}}));
  }
}

std::string ErrorOf(const std::string& text) {
  try {
    ReadTransitions(text, "m");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Transitions, Errors) {
  EXPECT_THAT(ErrorOf("input a\n1 0\n0 ?\n"), HasSubstr("m:3:3: expected a finite number, got '?'"));
  EXPECT_THAT(ErrorOf("layer\ninput a\n1 0\n0 1\noffset 1 x\n"),
              HasSubstr("m:5:10: expected a finite number, got 'x'"));
  EXPECT_THAT(ErrorOf("layer\n matrix a\n"), HasSubstr("m:2:2: expected layer, start, input, offset or a number"));
  EXPECT_THAT(ErrorOf("input\n1\n"), HasSubstr("m:1:1: expected the input's name"));
  EXPECT_THAT(ErrorOf("offset 1\n"), HasSubstr("an offset belongs to an input"));
  EXPECT_THAT(ErrorOf("layer\n"), HasSubstr("layer 1 has no input"));
  EXPECT_THAT(ErrorOf("input a\ninput b\n1\n"), HasSubstr("expected rows of numbers, got none"));
  EXPECT_THAT(ErrorOf("input a\n1 0\n"), HasSubstr("input a: expected a square matrix of 1 rows, got 1 rows and 2"));
  EXPECT_THAT(ErrorOf("input a\n1\ninput b\n1 0\n0 1\n"), HasSubstr("input b: expected a square matrix of 1 rows"));
  EXPECT_THAT(ErrorOf("start 1 2\ninput a\n1\n"), HasSubstr("start has 2 numbers, the matrices 1 rows"));
  EXPECT_THAT(ErrorOf("input a\n1\noffset 1 2\n"), HasSubstr("offset has 2 numbers, the matrix 1 rows"));
  EXPECT_THAT(ErrorOf("1 0 0\n0 1 0\n"), HasSubstr("expected a square matrix, got 2 rows and 3 columns"));
}

}  // namespace
}  // namespace lrnn
