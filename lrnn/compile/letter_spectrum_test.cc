#include "lrnn/compile/letter_spectrum.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "lrnn/compile/compiler.h"
#include "lrnn/compile/eigenvalues.h"

namespace lrnn {
namespace {

std::vector<std::string> Lines(const Dfa& dfa, const CompileOptions& options) {
  const AutomatonNetwork network = Compile(dfa, options).network;
  std::vector<std::string> lines;
  for (const LetterSpectrum& spectrum : LetterSpectra(network)) {
    std::vector<std::string> values;
    for (const auto& value : spectrum.eigenvalues) values.push_back(EigenvalueText(value));
    lines.push_back(fmt::format("{}.{} {}: {}", spectrum.level, spectrum.layer, dfa.letters[spectrum.letter],
                                fmt::join(values, " ")));
  }
  return lines;
}

using Expected = std::vector<std::string>;

TEST(LetterSpectrum, ParityFlipsASign) {
  const Dfa parity{2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {false, true}};
  EXPECT_EQ(Lines(parity, {.mode = CompileMode::kRelax}), (Expected{"0.0 0: 1", "0.0 1: -1"}));
}

TEST(LetterSpectrum, ACycleOfThreeHasCubeRootsOfOne) {
  const Dfa z3{3, {"+"}, {{1, 2, 0}}, 0, {true, false, false}};
  EXPECT_EQ(Lines(z3, {.mode = CompileMode::kRelax}), (Expected{"0.0 +: -0.5-0.866025i -0.5+0.866025i 1"}));
}

// (ab)*: a slot with delay above one without. The first moves its label and writes: the matrix is nilpotent. At the
// second, a may write or do nothing, whatever the level above holds.
TEST(LetterSpectrum, LettersOfStarFreeLanguagesWrite) {
  const Dfa ab_star{3, {"a", "b"}, {{1, 2, 2}, {2, 0, 2}}, 0, {true, false, false}};
  EXPECT_EQ(Lines(ab_star, {.mode = CompileMode::kRelax}),
            (Expected{"0.0 a: 0", "0.0 b: 0", "1.0 a: 0 1", "1.0 b: 0 1"}));
}

// All maps of three states: permutations of a content, and a slot beside it that only resets write.
TEST(LetterSpectrum, PermutedSlots) {
  const Dfa t3{3, {"a", "b", "c"}, {{1, 0, 2}, {1, 2, 0}, {0, 0, 2}}, 0, {true, false, false}};
  const std::vector<std::string> lines = Lines(t3, {.mode = CompileMode::kRelax});
  ASSERT_GE(lines.size(), 6u);
  EXPECT_EQ(lines[0], "0.0 a: -1 1");
  EXPECT_EQ(lines[1], "0.0 b: -0.5-0.866025i -0.5+0.866025i 1");
  EXPECT_EQ(lines[2], "0.0 c: 1");
  EXPECT_EQ(lines[3], "0.1 a: 1");
  EXPECT_EQ(lines[5], "0.1 c: 0");
}

TEST(LetterSpectrum, JitHasNoTables) {
  const Dfa parity{2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {false, true}};
  EXPECT_TRUE(Lines(parity, {.mode = CompileMode::kJit}).empty());
}

}  // namespace
}  // namespace lrnn
