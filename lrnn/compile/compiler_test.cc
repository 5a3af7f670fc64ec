#include "lrnn/compile/compiler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "lrnn/automata/finite_group.h"
#include "lrnn/automata/groups.h"
#include "lrnn/automata/minimise.h"
#include "lrnn/automata/monoid.h"
#include "lrnn/automata/random_dfa.h"
#include "lrnn/automata/regex.h"
#include "lrnn/base/error.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/certify.h"
#include "lrnn/compile/eigenvalues.h"
#include "lrnn/compile/theory_vectors.h"
#include "lrnn/runtime/automaton_stepper.h"
#include "lrnn/runtime/bf16.h"

namespace lrnn {
namespace {

template <typename Number>
std::vector<int> States(const AutomatonNetwork& network, const std::vector<int>& word) {
  const auto stepper = MakeStepper<Number>(network);
  std::vector<Number> S(stepper->StateSize());
  std::vector<int> states(word.size());
  stepper->Run(word, S.data(), states.data());
  return states;
}

// The names of the vectors' layers: SLOT (also where a level needs none), PR2, JOINT (a one-hot level of permutations),
// PERM and SLOT.
void Describe(const AutomatonNetwork& network, std::vector<std::string>& kinds, std::vector<int>& n_h) {
  for (const AutomatonLevel& level : network.levels) {
    switch (level.kind) {
      case LevelKind::kFixed:
        kinds.push_back("SLOT");
        n_h.push_back(0);
        break;
      case LevelKind::kSlot:
        kinds.push_back("SLOT");
        break;
      case LevelKind::kSign:
        kinds.push_back("PR2");
        break;
      case LevelKind::kPermutedSlot:
        kinds.insert(kinds.end(), {"PERM", "SLOT"});
        break;
      default:
        kinds.push_back("JOINT");
    }
    for (const DeltaProductTable& layer : level.layers) n_h.push_back(layer.n_h);
  }
}

TEST(Compile, TheoryVectors) {
  int saved = 0;
  for (const TheoryVector& v : TheoryVectors()) {
    SCOPED_TRACE(v.name + ", " + v.mode);
    const AutomatonNetwork network = Compile(v.dfa, {.mode = ParseCompileMode(v.mode)}).network;
    EXPECT_NO_THROW(Validate(network, "network"));
    std::vector<std::string> kinds;
    std::vector<int> n_h;
    Describe(network, kinds, n_h);
    EXPECT_EQ(kinds, v.kinds);
    // Which numbers labels get is a matter of order; in one vector ours need one swap less.
    ASSERT_EQ(n_h.size(), v.n_h.size());
    for (size_t i = 0; i < n_h.size(); ++i) {
      EXPECT_LE(n_h[i], v.n_h[i]);
      saved += v.n_h[i] - n_h[i];
    }
    for (size_t i = 0; i < v.words.size(); ++i) {
      EXPECT_EQ(States<float>(network, v.words[i]), v.states[i]);
      EXPECT_EQ(States<double>(network, v.words[i]), v.states[i]);
      EXPECT_EQ(States<Bf16>(network, v.words[i]), v.states[i]);
    }
  }
  EXPECT_EQ(saved, 1);
}

// The states do not depend on how the layers are made.
TEST(Compile, EveryStyleOfKeysAndLevels) {
  for (const TheoryVector& v : TheoryVectors()) {
    for (const KeyStyle keys : {KeyStyle::kExact, KeyStyle::kDup, KeyStyle::kUnit}) {
      for (const CompileOptions& options :
           {CompileOptions{.mode = ParseCompileMode(v.mode), .keys = keys},
            CompileOptions{.mode = ParseCompileMode(v.mode), .keys = keys, .joint = true},
            CompileOptions{.mode = CompileMode::kAuto, .keys = keys},
            CompileOptions{.mode = CompileMode::kJit, .keys = keys}}) {
        SCOPED_TRACE(fmt::format("{}, {}, keys {}, joint {}", v.name, Name(options.mode), Name(keys), options.joint));
        const AutomatonNetwork network = Compile(v.dfa, options).network;
        EXPECT_NO_THROW(Validate(network, "network"));
        for (size_t i = 0; i < v.words.size(); ++i) {
          EXPECT_EQ(States<float>(network, v.words[i]), v.states[i]);
          if (keys != KeyStyle::kUnit) {
            EXPECT_EQ(States<Bf16>(network, v.words[i]), v.states[i]);
          }
        }
      }
    }
  }
}

TEST(Compile, JitTakesOverBeyondTheLimits) {
  const Dfa dfa = FromRegex("(a|b)*a(a|b){3}");
  const auto compiled = [&](const CompileOptions& options) { return Compile(dfa, options); };
  EXPECT_THAT(compiled({}).notes, testing::IsEmpty());
  const Compiled few_sets = compiled({.max_sets = 3, .max_cases = 3});
  EXPECT_EQ(few_sets.network.mode, "jit");
  EXPECT_THAT(
      few_sets.notes,
      testing::ElementsAre("the tables need more than 3 cases: mode jit takes over, which computes each letter's "
                           "action as it comes"));
  Dfa ring{300, {"a", "b"}, {{}, std::vector<int>(300, 0)}, 0, std::vector<bool>(300, true)};
  for (int q = 0; q < 300; ++q) ring.next[0].push_back((q + 1) % 300);
  const Compiled many_states = Compile(ring, {});
  EXPECT_EQ(many_states.network.mode, "jit");
  EXPECT_THAT(many_states.notes[0],
              testing::StartsWith("tables are made for at most 256 states, here are 300: mode jit"));
  EXPECT_THROW(Compile(ring, {.mode = CompileMode::kRelax}), Failure);
}

std::string ErrorOf(const Dfa& dfa, const CompileOptions& options) {
  try {
    Compile(dfa, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The matrix of a whole token: its micro-steps one behind the other.
Matrix Transition(const DeltaProductTable& layer, int symbol) {
  Matrix A = Matrix::Identity(layer.K);
  for (int m = 0; m < layer.n_h; ++m) {
    const size_t step = static_cast<size_t>(symbol) * layer.n_h + m;
    Matrix factor = Matrix::Identity(layer.K);
    for (int i = 0; i < layer.K; ++i) {
      for (int j = 0; j < layer.K; ++j) {
        factor(i, j) -= layer.beta[step] * layer.k[step * layer.K + i] * layer.k[step * layer.K + j];
      }
    }
    A = factor * A;
  }
  return A;
}

void ExpectEigenvaluesFrom0To1(const AutomatonNetwork& network) {
  for (const AutomatonLevel& level : network.levels) {
    for (const DeltaProductTable& layer : level.layers) {
      for (int symbol = 0; symbol < layer.symbols; ++symbol) {
        for (const std::complex<double> value : Eigenvalues(Transition(layer, symbol))) {
          EXPECT_NEAR(value.imag(), 0.0, 1e-7);
          EXPECT_GE(value.real(), -1e-7);
          EXPECT_LE(value.real(), 1.0 + 1e-7);
        }
      }
    }
  }
}

void ExpectCompilesFrom0To1(const Dfa& dfa, const CompileOptions& options) {
  const AutomatonNetwork network = Compile(dfa, options).network;
  EXPECT_FALSE(network.negative_eigenvalues);
  EXPECT_NO_THROW(Validate(network, "network"));
  ExpectEigenvaluesFrom0To1(network);
  const Certificates c = Certify(network, {200, 20'000});
  EXPECT_TRUE(c.local.holds) << c.local.verdict;
  EXPECT_TRUE(c.arithmetic.holds) << c.arithmetic.verdict;
  EXPECT_TRUE(c.floats[0].holds) << c.floats[0].verdict;
  Rng rng(7, 0);
  std::vector<int> word(300), states;
  for (int& letter : word) letter = static_cast<int>(rng.Below(dfa.num_letters()));
  for (size_t t = 1; t <= word.size(); ++t) states.push_back(dfa.Run(std::span(word).first(t)));
  EXPECT_EQ(States<float>(network, word), states);
}

TEST(EigenvaluesFrom0To1, StarFreeLanguages) {
  for (const char* pattern : {"(ab)*", ".*abab.*|b", "a*b*c*", "~(.*aa.*)&~(.*bb.*)", "(a(ab)*b)*", "(a(a(ab)*b)*b)*",
                              "abc|cba|a", "(ab|ba)*&~(.*abba.*)&(ab)*", "a{5}b?", "(.*a.*b)&~(.*c.*)", "()"}) {
    SCOPED_TRACE(pattern);
    RegexOptions regex;
    regex.alphabet = {"a", "b", "c"};
    const Dfa dfa = FromRegex(pattern, regex);
    for (const CompileMode mode : {CompileMode::kAuto, CompileMode::kHeight}) {
      for (const KeyStyle keys : {KeyStyle::kExact, KeyStyle::kDup}) {
        ExpectCompilesFrom0To1(dfa, {.mode = mode, .keys = keys, .negative_eigenvalues = false});
      }
    }
  }
}

// Maps that keep the order of the states have no cycles, nor have their products.
Dfa RandomMonotoneDfa(Rng& rng, int states, int letters) {
  Dfa dfa = RandomDfa(rng, 1, letters);
  dfa.num_states = states;
  dfa.accepting.assign(states, false);
  dfa.accepting[rng.Below(states)] = true;
  for (std::vector<int>& next : dfa.next) {
    next.clear();
    for (int q = 0; q < states; ++q) next.push_back(static_cast<int>(rng.Below(states)));
    std::sort(next.begin(), next.end());
  }
  dfa.start = static_cast<int>(rng.Below(states));
  return Trim(dfa);
}

TEST(EigenvaluesFrom0To1, RandomAutomata) {
  int compiled = 0, refused = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    Rng rng(11, i);
    const int states = 2 + static_cast<int>(i % 6), letters = 1 + static_cast<int>(i % 3);
    const Dfa dfa = i % 4 == 0 ? RandomMonotoneDfa(rng, states, letters) : RandomDfa(rng, states, letters);
    const bool aperiodic = *IsAperiodic(dfa);
    EXPECT_TRUE(aperiodic || i % 4 != 0);
    if (aperiodic) {
      ExpectCompilesFrom0To1(dfa, {.negative_eigenvalues = false});
      ++compiled;
    } else {
      EXPECT_THAT(ErrorOf(dfa, {.negative_eigenvalues = false}),
                  testing::ContainsRegex("the word '[abc]+' takes state [0-9]+ to [0-9]+"));
      ++refused;
    }
  }
  EXPECT_GE(compiled, 100);
  EXPECT_GE(refused, 50);
}

TEST(EigenvaluesFrom0To1, RefusedWithTheWordThatMovesACycle) {
  const CompileOptions from_0{.negative_eigenvalues = false};
  EXPECT_EQ(ErrorOf(FromRegex("(aa)*"), from_0),
            "eigenvalues in [0, 1] cannot do this: the word 'a' takes state 0 to 1 to 0, so the language is not "
            "star-free; it takes eigenvalues in [-1, 1]");
  // No single letter moves a cycle.
  const Dfa words = FromRegex("((ab){3})*");
  EXPECT_THAT(ErrorOf(words, from_0), testing::ContainsRegex("the word '(ab|ba)' takes state"));
  for (const CompileMode mode : {CompileMode::kRelax, CompileMode::kSub, CompileMode::kHeight}) {
    EXPECT_THAT(ErrorOf(words, {.mode = mode, .negative_eigenvalues = false}), testing::HasSubstr("not star-free"));
  }
  const Dfa group = CayleyAutomaton(FiniteGroup(ParseGroup("S5")));
  EXPECT_THAT(ErrorOf(group, from_0), testing::HasSubstr("not star-free"));
  EXPECT_THAT(ErrorOf(group, {.mode = CompileMode::kGroup, .negative_eigenvalues = false}),
              testing::HasSubstr("not star-free"));
  EXPECT_THAT(ErrorOf(FromRegex("a"), {.mode = CompileMode::kJit, .negative_eigenvalues = false}),
              testing::HasSubstr("mode jit: its layers swap"));
  // Two states too many, which a exchanges.
  const Dfa twice{2, {"a"}, {{1, 0}}, 0, {true, true}};
  EXPECT_THAT(ErrorOf(twice, from_0), testing::HasSubstr("the language is star-free: minimise the automaton"));
}

TEST(EigenvaluesFrom0To1, SaysWhenLimitsLeaveItOpen) {
  EXPECT_EQ(ErrorOf(FromRegex("(ab)*"), {.negative_eigenvalues = false, .max_sets = 2}),
            "the tables need more than 2 sets of states: it stays open whether eigenvalues in [0, 1] are enough");
}

}  // namespace
}  // namespace lrnn
