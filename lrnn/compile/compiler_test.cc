#include "lrnn/compile/compiler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lrnn
