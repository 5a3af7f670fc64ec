#include "lrnn/theory/conditions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "lrnn/automata/regex.h"
#include "lrnn/compile/compiler.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

TransitionLayer Layer(int depth, const std::vector<Matrix>& matrices) {
  TransitionLayer layer{fmt::format("layer {}", depth), depth, {}, {}};
  for (const Matrix& A : matrices) layer.transitions.push_back({fmt::format("x{}", layer.transitions.size()), A, {}});
  return layer;
}

// I - beta k k^T with k of norm 1 at an angle.
Matrix Householder(double beta, double degrees) {
  const double x = std::cos(degrees * std::numbers::pi / 180), y = std::sin(degrees * std::numbers::pi / 180);
  return {{1 - beta * x * x, -beta * x * y}, {-beta * x * y, 1 - beta * y * y}};
}

TEST(Parity, NeedsAnEigenvalueThatIsNotPositive) {
  const Verdict minus = CheckParity({{Layer(1, {{{1}}, {{-1}}})}});
  EXPECT_EQ(minus.answer, Answer::kPossible);
  EXPECT_EQ(minus.reason, "layer 1, input x1 has the eigenvalue -1, of modulus 1 and not positive");
  const Verdict turn = CheckParity({{Layer(1, {{{0, -1}, {1, 0}}})}});
  EXPECT_EQ(turn.answer, Answer::kPossible);
  EXPECT_THAT(turn.reason, HasSubstr("0+1i"));
  const Verdict close = CheckParity({{Layer(1, {{{1}}, {{-0.99}}})}});
  EXPECT_EQ(close.answer, Answer::kImpossible);
  EXPECT_THAT(close.reason, HasSubstr("of the others the largest is -0.99: layer 1, input x1"));
  EXPECT_EQ(CheckParity({{Layer(1, {{{1, 0}, {0, 0.5}}})}}).reason, "all eigenvalues are real and positive");
}

TEST(Parity, OneGoodLayerIsEnough) {
  const Transitions stacked{{Layer(1, {{{-1}}}), Layer(2, {{{0}}})}};
  EXPECT_EQ(CheckParity(stacked).answer, Answer::kPossible);
  EXPECT_EQ(CheckParity(stacked).checked, "2 matrices of 2 layers");
}

TEST(Parity, OfDeltaNet) {
  for (const double beta : {0.3, 0.9, 1.0, 1.9}) {
    EXPECT_EQ(CheckParity({{Layer(1, {Householder(beta, 20), Householder(beta, 70)})}}).answer, Answer::kImpossible);
  }
  EXPECT_EQ(CheckParity({{Layer(1, {Householder(2, 20)})}}).answer, Answer::kPossible);
}

TEST(Parity, WhatWasSeenProvesNothing) {
  const Transitions seen{{Layer(1, {{{0.5}}})}, false};
  EXPECT_EQ(CheckParity(seen).answer, Answer::kOpen);
  EXPECT_EQ(CheckParity(seen).checked, "1 matrices of 1 layer, on the inputs that were seen");
  EXPECT_EQ(CheckModularCounting(seen).answer, Answer::kOpen);
}

TEST(ModularCounting, OneHouseholderLayerCannot) {
  EXPECT_EQ(CheckModularCounting({{Layer(1, {Householder(2, 0), Householder(2, 60)})}}).answer, Answer::kImpossible);
}

// Layer 1 tells odd from even, layer 2 swaps (0 1) and (1 2) in turn: t mod 6, with one reflection each.
TEST(ModularCounting, TwoHouseholderLayersCan) {
  const Matrix swap01{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, swap12{{1, 0, 0}, {0, 0, 1}, {0, 1, 0}};
  const Verdict verdict = CheckModularCounting({{Layer(1, {{{-1}}}), Layer(2, {swap01, swap12})}});
  EXPECT_EQ(verdict.answer, Answer::kPossible);
  EXPECT_THAT(verdict.reason, HasSubstr("layer 2, inputs x0, x1: the product has the eigenvalue -0.5+0.866025i"));
  // The same matrices lowest.
  EXPECT_EQ(CheckModularCounting({{Layer(1, {swap01, swap12})}}).answer, Answer::kImpossible);
}

TEST(ModularCounting, DiagonalLayersCannotAtAnyDepth) {
  Transitions diagonal;
  for (int depth = 1; depth <= 30; ++depth)
    diagonal.layers.push_back(Layer(depth, {{{-1, 0}, {0, 1}}, {{1, 0}, {0, -1}}}));
  const Verdict verdict = CheckModularCounting(diagonal);
  EXPECT_EQ(verdict.answer, Answer::kImpossible);
  EXPECT_THAT(verdict.reason, HasSubstr("triangular"));
}

TEST(ModularCounting, FactorsAboveMinusOneCannotAtAnyDepth) {
  Transitions positive;
  for (int depth = 1; depth <= 30; ++depth) {
    positive.layers.push_back(Layer(depth, {Householder(1.99, 0) * Householder(1.5, 50), Householder(0.5, 60)}));
  }
  const Verdict verdict = CheckModularCounting(positive);
  EXPECT_EQ(verdict.answer, Answer::kImpossible);
  EXPECT_THAT(verdict.reason, HasSubstr("only where it fixes it"));
}

// A nilpotent matrix keeps the length of a vector that it does not fix: two of them make the eigenvalue -1.
TEST(ModularCounting, EigenvaluesOfSingleMatricesSayLittle) {
  const Verdict verdict = CheckModularCounting({{Layer(1, {{{0, 1}, {0, 0}}, {{0, 0}, {-1, 0}}})}});
  EXPECT_EQ(verdict.answer, Answer::kImpossible);
  EXPECT_THAT(verdict.checked, HasSubstr("2 different products"));
}

TEST(ModularCounting, SaysWhenThereAreTooManyProducts) {
  std::vector<Matrix> symmetric;
  for (int i = 0; i < 60; ++i)
    symmetric.push_back(Householder(2, 0.1 * i * i) * Matrix{{0.5, 0}, {0, 0.25 + 0.001 * i}});
  symmetric.push_back({{0, 1}, {0, 0}});
  const Verdict verdict = CheckModularCounting({{Layer(1, {{{1}}}), Layer(6, symmetric)}});
  EXPECT_EQ(verdict.answer, Answer::kOpen);
  EXPECT_EQ(verdict.reason, "found no such product; layer 6 has more than were looked at");
}

TEST(Conditions, OfCompiledAutomata) {
  const auto parity = [](const char* pattern, const CompileOptions& options) {
    return CheckParity(TransitionsOf(Compile(FromRegex(pattern), options).network)).answer;
  };
  const auto count = [](const char* pattern, const CompileOptions& options) {
    return CheckModularCounting(TransitionsOf(Compile(FromRegex(pattern), options).network)).answer;
  };
  EXPECT_EQ(parity("(aa)*", {}), Answer::kPossible);
  EXPECT_EQ(count("(aa)*", {}), Answer::kImpossible);
  EXPECT_EQ(count("(aaa)*", {}), Answer::kPossible);
  EXPECT_EQ(parity("(ab)*", {.negative_eigenvalues = false}), Answer::kImpossible);
  EXPECT_EQ(count("(ab)*", {.negative_eigenvalues = false}), Answer::kImpossible);
}

}  // namespace
}  // namespace lrnn
