#include "lrnn/compile/certify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/compile/certify_arithmetic.h"
#include "lrnn/compile/certify_local.h"
#include "lrnn/compile/compiler.h"
#include "lrnn/compile/theory_vectors.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Certify, TheoryVectors) {
  for (const TheoryVector& v : TheoryVectors()) {
    for (const bool joint : {false, true}) {
      for (const KeyStyle keys : {KeyStyle::kExact, KeyStyle::kDup}) {
        SCOPED_TRACE(v.name + ", " + v.mode + ", keys " + std::string(Name(keys)) + (joint ? ", joint" : ""));
        const Compiled compiled = Compile(v.dfa, {.mode = ParseCompileMode(v.mode), .keys = keys, .joint = joint});
        const Certificates c = Certify(compiled.network, {1000, 100'000});
        EXPECT_TRUE(c.local.holds) << c.local.verdict;
        EXPECT_TRUE(c.arithmetic.holds) << c.arithmetic.verdict;
        EXPECT_THAT(c.arithmetic.formats, ElementsAre("bf16", "fp16", "fp32", "fp64"));
        for (const Certificate& f : c.floats) EXPECT_TRUE(f.holds) << f.verdict;
        EXPECT_GT(c.local.nodes, 0);
        EXPECT_THAT(c.ProvedFormats(), ElementsAre("bf16", "fp16", "fp32", "fp64"));
      }
    }
  }
}

// Parity of the number of "ab": a level of resets with delay above a level of two labels that are exchanged.
Dfa ParityOfAb() { return {4, {"a", "b"}, {{1, 1, 3, 3}, {0, 2, 2, 0}}, 0, {true, true, false, false}}; }

// All transformations of four states.
Dfa FullT4() {
  return {4, {"a", "b", "c"}, {{1, 0, 2, 3}, {1, 2, 3, 0}, {0, 0, 2, 3}}, 0, {true, false, false, false}};
}

AutomatonNetwork CompileExactly(const Dfa& dfa, KeyStyle keys = KeyStyle::kExact) {
  return Compile(dfa, {.mode = CompileMode::kRelax, .keys = keys}).network;
}

TEST(PlantedFault, WrongTableEntry) {
  for (const Dfa& dfa : {ParityOfAb(), FullT4()}) {
    const AutomatonNetwork right = CompileExactly(dfa);
    // Every entry of every table, changed to every other value, is noticed by C1; where a word can lead there, by C3.
    int64_t planted = 0, noticed_by_words = 0;
    for (size_t level = 0; level < right.levels.size(); ++level) {
      const auto& next = right.levels[level].tables.next;
      for (size_t c = 0; c < next.size(); ++c) {
        for (size_t label = 0; label < next[c].size(); ++label) {
          AutomatonNetwork wrong = right;
          int& entry = wrong.levels[level].tables.next[c][label];
          if (entry < 0) continue;
          entry = entry == 0 ? 1 : 0;
          ++planted;
          const Certificates certificates = Certify(wrong);
          EXPECT_FALSE(certificates.local.holds) << level << " " << c << " " << label;
          noticed_by_words += !certificates.floats[0].holds;
        }
      }
    }
    EXPECT_GE(planted, 10);
    EXPECT_GE(noticed_by_words, planted * 9 / 10);
  }
}

TEST(PlantedFault, WrongFirstContext) {
  AutomatonNetwork wrong = CompileExactly(ParityOfAb());
  wrong.first_context[0] = 1;
  EXPECT_THAT(Certify(wrong).local.verdict, HasSubstr("first contexts: letter 'a' leads to context 1 instead of 0"));
  EXPECT_FALSE(Certify(wrong).floats[0].holds);
}

TEST(PlantedFault, MissingDelaySlot) {
  AutomatonNetwork wrong = CompileExactly(ParityOfAb());
  AutomatonLevel& level = wrong.levels[0];
  ASSERT_TRUE(level.delay);
  level.delay = false;
  // A slot without delay: one coordinate, one write.
  DeltaProductTable& layer = level.layers[0];
  layer.K = layer.n_h = 1;
  layer.k.assign(layer.symbols, 1.0f);
  layer.beta.assign(layer.symbols, 1.0f);
  layer.v.clear();
  for (const auto& action : level.tables.actions) layer.v.push_back(static_cast<float>(action[0]));
  EXPECT_NO_THROW(Validate(wrong, "network"));
  const Certificates c = Certify(wrong);
  EXPECT_EQ(c.local.verdict, "level 0: a reset needs the label before, and the level does not keep it");
  EXPECT_TRUE(c.arithmetic.holds) << "each layer does what it says";
  EXPECT_FALSE(c.floats[0].holds);
  EXPECT_THAT(c.floats[0].verdict,
              HasSubstr("word of length 2: letter 'b' leads from state 1 to 2, the network says 0"));
  EXPECT_THAT(c.ProvedFormats(), IsEmpty());
}

TEST(PlantedFault, BetaOffByOneUlp) {
  for (const KeyStyle keys : {KeyStyle::kExact, KeyStyle::kDup}) {
    const AutomatonNetwork right = CompileExactly(FullT4(), keys);
    for (size_t level = 0; level < right.levels.size(); ++level) {
      for (size_t layer = 0; layer < right.levels[level].layers.size(); ++layer) {
        for (size_t step = 0; step < right.levels[level].layers[layer].beta.size(); ++step) {
          AutomatonNetwork wrong = right;
          float& beta = wrong.levels[level].layers[layer].beta[step];
          if (beta == 0.0f) continue;
          for (const float towards : {0.0f, 4.0f}) {
            beta = std::nextafter(right.levels[level].layers[layer].beta[step], towards);
            const Certificates c = Certify(wrong, {1, 1});
            EXPECT_TRUE(c.local.holds);
            EXPECT_FALSE(c.arithmetic.holds);
          }
        }
      }
    }
  }
}

TEST(PlantedFault, PermutedKey) {
  const AutomatonNetwork right = CompileExactly(FullT4());
  int64_t planted = 0;
  for (size_t level = 0; level < right.levels.size(); ++level) {
    for (size_t layer = 0; layer < right.levels[level].layers.size(); ++layer) {
      const DeltaProductTable& table = right.levels[level].layers[layer];
      for (size_t step = 0; step < table.beta.size(); ++step) {
        if (table.beta[step] == 0.0f || table.K < 2) continue;
        AutomatonNetwork wrong = right;
        float* key = wrong.levels[level].layers[layer].k.data() + step * table.K;
        std::rotate(key, key + 1, key + table.K);
        if (std::equal(key, key + table.K, table.k.data() + step * table.K)) continue;
        const Certificates c = Certify(wrong);
        if (c.arithmetic.holds) {
          // A swap of two coordinates is the same with its key negated.
          EXPECT_EQ(table.K, 2);
          continue;
        }
        ++planted;
        EXPECT_THAT(c.arithmetic.verdict, HasSubstr("does not become what the action says"));
        EXPECT_FALSE(c.floats[0].holds);
        EXPECT_THAT(c.ProvedFormats(), IsEmpty());
      }
    }
  }
  EXPECT_GT(planted, 5);
}

// With no room for a search of all layers together, each level is searched by itself.
TEST(PlantedFault, LevelByLevel) {
  const FloatSearchLimits limits{0, 1'000'000};
  for (const KeyStyle keys : {KeyStyle::kExact, KeyStyle::kDup}) {
    const AutomatonNetwork right = CompileExactly(FullT4(), keys);
    ASSERT_EQ(right.levels[0].kind, LevelKind::kPermutedSlot);
    ASSERT_TRUE(right.levels[0].delay);
    for (const Certificate& c : Certify(right, limits).floats) {
      EXPECT_TRUE(c.holds) << c.verdict;
      EXPECT_TRUE(c.needs_local);
    }
    for (size_t layer = 0; layer < 2; ++layer) {
      const DeltaProductTable& table = right.levels[0].layers[layer];
      for (size_t step = 0; step < table.beta.size(); ++step) {
        if (table.beta[step] == 0.0f) continue;
        AutomatonNetwork wrong = right;
        DeltaProductTable& changed = wrong.levels[0].layers[layer];
        changed.beta[step] *= 0.75f;
        EXPECT_FALSE(Certify(wrong, limits).floats[0].holds) << "layer " << layer << ", step " << step;
        wrong = right;
        changed.v[step] += 1.0f;
        EXPECT_FALSE(Certify(wrong, limits).floats[0].holds) << "layer " << layer << ", step " << step;
        wrong = right;
        changed.beta[step] = 0.0f;
        EXPECT_FALSE(Certify(wrong, limits).floats[0].holds) << "layer " << layer << ", step " << step;
      }
    }
    AutomatonNetwork wrong = right;
    std::fill(wrong.levels[0].layers[0].k.begin(), wrong.levels[0].layers[0].k.end(), 1.0f);
    EXPECT_THAT(Certify(wrong, limits).floats[0].verdict, HasSubstr("is not a swap of two places"));
  }
}

TEST(PlantedFault, EigenvalueOutsideOfTheRange) {
  AutomatonNetwork wrong = CompileExactly(ParityOfAb());
  wrong.negative_eigenvalues = false;
  EXPECT_THAT(Certify(wrong).arithmetic.verdict,
              HasSubstr("beta |k|^2 = 2 gives the eigenvalue -1, outside of the range"));
}

TEST(PlantedFault, ProofThatIsNone) {
  AutomatonNetwork wrong = CompileExactly(FullT4());
  wrong.proof = {};
  EXPECT_EQ(Certify(wrong).local.verdict, "the network carries no proof");
  EXPECT_THAT(Certify(wrong, {100, 100'000}).ProvedFormats(), IsEmpty()) << "C3 level by level needs it";
  EXPECT_THAT(Certify(wrong, {1'000'000, 0}).ProvedFormats(), ElementsAre("bf16", "fp32")) << "C3 of all needs none";
  const AutomatonNetwork right = CompileExactly(FullT4());
  for (size_t level = 0; level < right.levels.size(); ++level) {
    wrong = right;
    wrong.proof.cases[level].pop_back();
    EXPECT_FALSE(CertifyLocal(wrong).holds);
  }
  for (size_t set = 0; set < right.proof.sets.size(); ++set) {
    wrong = right;
    wrong.proof.level_of[set] = 7;
    EXPECT_FALSE(CertifyLocal(wrong).holds);
    wrong = right;
    wrong.proof.sets[set].push_back(-1);
    EXPECT_FALSE(CertifyLocal(wrong).holds);
    for (int& child : wrong.proof.children[set]) {
      wrong = right;
      child = 1000;
      EXPECT_FALSE(CertifyLocal(wrong).holds);
    }
  }
}

TEST(Certify, RoundedKeysAreProvedByNothingButTheFloats) {
  const Certificates c = Certify(CompileExactly(FullT4(), KeyStyle::kUnit), {1000, 10000});
  EXPECT_TRUE(c.local.holds);
  EXPECT_FALSE(c.arithmetic.holds);
  EXPECT_FALSE(c.floats[0].holds);
  EXPECT_THAT(c.floats[0].verdict, HasSubstr("not closed: right on words up to length"));
}

// The content of n labels takes integers up to 2 (n - 1) on the way, or halves up to 3/2 (n - 1) with keys `dup`.
TEST(Certify, SaysWhichFormatsAreWideEnough) {
  const auto formats = [](int states, KeyStyle keys) {
    Dfa dfa{states, {"a"}, {std::vector<int>(states, 0)}, 0, std::vector<bool>(states, true)};
    return CertifyArithmetic(Compile(dfa, {.mode = CompileMode::kJit, .keys = keys}).network).formats;
  };
  EXPECT_THAT(formats(129, KeyStyle::kExact), ElementsAre("bf16", "fp16", "fp32", "fp64"));
  EXPECT_THAT(formats(130, KeyStyle::kExact), ElementsAre("fp16", "fp32", "fp64"));
  EXPECT_THAT(formats(86, KeyStyle::kDup), ElementsAre("bf16", "fp16", "fp32", "fp64"));
  EXPECT_THAT(formats(87, KeyStyle::kDup), ElementsAre("fp16", "fp32", "fp64"));
  EXPECT_THAT(formats(5, KeyStyle::kUnit), IsEmpty());
}

TEST(Certify, Jit) {
  for (const KeyStyle keys : {KeyStyle::kExact, KeyStyle::kDup}) {
    const Certificates c = Certify(Compile(FullT4(), {.mode = CompileMode::kJit, .keys = keys}).network, {100, 10'000});
    EXPECT_TRUE(c.local.holds);
    // The largest level, of 4 labels: pairs of numbers in pairs of places, slots with the label before; and a sign.
    EXPECT_EQ(c.floats[0].nodes, 6 * 12 + 16 + 2);
    EXPECT_THAT(c.floats[1].verdict, HasSubstr("closed for each level"));
    EXPECT_THAT(c.ProvedFormats(), ElementsAre("bf16", "fp16", "fp32", "fp64"));
  }
}

}  // namespace
}  // namespace lrnn
