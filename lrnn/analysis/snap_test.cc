#include "lrnn/analysis/snap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lrnn/base/message_of.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/models/model_files.h"
#include "lrnn/runtime/model.h"
#include "lrnn/runtime/test_parity_model.h"
#include "lrnn/tasks/parity.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

// Parity, nearly: eigenvalues -0.9993 for the bit 1 and 0.99998 for the bit 0, a key off the axes.
TestModel NearlyParity(const std::string& activation) {
  TestModel model = ParityModel(8);
  model.config["qk_activation"] = activation;
  model.tensors["model.layers.0.attn.b_proj.weight"].values[1] = -6;
  for (const char* name : {"model.layers.0.attn.q_proj.weight", "model.layers.0.attn.k_proj.weight"}) {
    for (int i = 0; i < 4; ++i) {
      model.tensors[name].values[i] = 0.6f;
      model.tensors[name].values[4 + i] = 0.8f;
    }
  }
  return model;
}

class SnapTest : public testing::Test {
 protected:
  Model Load(const TestModel& model) {
    model.Write(directory_ / "before");
    return LoadModel(directory_ / "before");
  }

  // How many different states a model gets into, bit by bit, on a random word.
  size_t StatesOf(const Model& model) {
    SaveModel(model, directory_ / "after");
    const auto session = RuntimeModel::Load(directory_ / "after").NewSession();
    std::set<std::vector<float>> states;
    Rng rng(1, 1);
    std::vector<float> state;
    for (int i = 0; i < 2000; ++i) {
      session->Step(1 + static_cast<int32_t>(rng.Below(2)));
      session->SaveState(state);
      states.insert(state);
    }
    return states.size();
  }

  TestDirectory directory_;
};

class SnapActivationTest : public SnapTest, public testing::WithParamInterface<const char*> {};

TEST_P(SnapActivationTest, ParityBecomesExact) {
  Model model = Load(NearlyParity(GetParam()));
  EXPECT_GT(StatesOf(model), 100u);
  const Snapping snapping = Snap(model, Parity(), ParityTruth());
  EXPECT_TRUE(snapping.complete());
  EXPECT_GE(snapping.accuracy_after, snapping.accuracy_before);
  ASSERT_EQ(snapping.heads.size(), 1u);
  const SnappedHead& head = snapping.heads[0];
  EXPECT_FALSE(head.off);
  EXPECT_TRUE(head.keys_snapped);
  EXPECT_EQ(head.axes, 1);
  EXPECT_NEAR(head.largest_turn, 0, 1e-3);
  EXPECT_EQ(head.problem, "");
  ASSERT_EQ(head.betas.size(), 2u);
  for (const SnappedBeta& beta : head.betas) {
    EXPECT_TRUE(beta.snapped);
    EXPECT_EQ(beta.after, beta.input == "1" ? 2 : 0);
    EXPECT_NEAR(beta.before, beta.after, 0.01);
  }
  EXPECT_EQ(StatesOf(model), 2u);
}

// The bit 0 flips too, nearly at a right angle and with a value that is not read.
TEST_P(SnapActivationTest, KeysAtRightAngles) {
  TestModel nearly = NearlyParity(GetParam());
  nearly.tensors["model.layers.0.attn.b_proj.weight"].values[1] = 4;
  nearly.tensors["model.layers.0.attn.v_proj.weight"].values[5] = 1;
  nearly.tensors["model.layers.0.attn.q_proj.weight"].values = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  nearly.tensors["model.layers.0.attn.k_proj.weight"].values = {1, 0.02f, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  Model model = Load(nearly);
  const Snapping snapping = Snap(model, Parity(), ParityTruth(), {.letters = 12});
  EXPECT_TRUE(snapping.complete()) << snapping.heads[0].problem;
  EXPECT_EQ(snapping.heads[0].axes, 2);
  EXPECT_GT(snapping.heads[0].largest_turn, 0.5);
  EXPECT_LT(snapping.heads[0].largest_turn, 1.5);
  EXPECT_EQ(snapping.accuracy_after, 1);
  if (std::string(GetParam()) == "silu") {
    EXPECT_LE(StatesOf(model), 4u);
  }
}

INSTANTIATE_TEST_SUITE_P(Activations, SnapActivationTest, testing::Values("identity", "silu"),
                         [](const auto& info) { return std::string(info.param); });

// The layer's own betas are what is reported: with a margin these are exact before anything is moved.
TEST_F(SnapTest, BetasWithAMargin) {
  TestModel nearly = NearlyParity("identity");
  nearly.config["beta_margin"] = 0.01;
  Model model = Load(nearly);
  const Snapping snapping = Snap(model, Parity(), ParityTruth());
  EXPECT_TRUE(snapping.complete());
  for (const SnappedBeta& beta : snapping.heads[0].betas) {
    EXPECT_EQ(beta.before, beta.input == "1" ? 2 : 0);
    EXPECT_EQ(beta.after, beta.before);
  }
}

// What the bit 0 writes, on an axis of its own, makes the answer "even": it cannot do without, and may do it at once.
TEST_F(SnapTest, AnotherExactValueThanTheNearest) {
  TestModel model = ParityModel();
  model.tensors["model.layers.0.attn.b_proj.weight"].values[1] = -0.885f;  // beta = 0.3
  model.tensors["model.layers.0.attn.v_proj.weight"].values[5] = 1;
  model.tensors["model.layers.0.attn.q_proj.weight"].values = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  model.tensors["model.layers.0.attn.k_proj.weight"].values = {0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  model.tensors["model.layers.0.attn.o_proj.weight"].values = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  model.tensors["lm_head.weight"].values = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
  Model loaded = Load(model);
  const Snapping snapping = Snap(loaded, Parity(), ParityTruth());
  EXPECT_TRUE(snapping.complete()) << snapping.heads[0].problem;
  EXPECT_GT(snapping.accuracy_after, 0.95);
  for (const SnappedBeta& beta : snapping.heads[0].betas) {
    EXPECT_NEAR(beta.before, beta.input == "0" ? 0.3 : 2, 0.01);
    EXPECT_NEAR(beta.after, beta.input == "0" ? 1 : 2, 1e-6);
  }
}

TEST_F(SnapTest, HeadsThatAreNotNeededGoOff) {
  TestModel model = NearlyParity("identity");
  model.tensors["lm_head.weight"].values = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  // the answer is the last letter
  const TokenAutomaton last{{2, {"0", "1"}, {{0, 0}, {1, 1}}, 0, {false, true}}, {}, {1, 2}, {1, 2}};
  Model loaded = Load(model);
  const Snapping snapping = Snap(loaded, Parity(), last);
  EXPECT_TRUE(snapping.complete());
  EXPECT_TRUE(snapping.heads[0].off);
  EXPECT_EQ(snapping.accuracy_after, 1);
  EXPECT_EQ(StatesOf(loaded), 1u);
}

TEST_F(SnapTest, WhatCostsAnswersIsTakenBack) {
  Model model = Load(NearlyParity("identity"));
  const size_t states = StatesOf(model);
  const Snapping snapping = Snap(model, Parity(), ParityTruth(), {.slack = -2});  // nothing is good enough
  EXPECT_FALSE(snapping.complete());
  EXPECT_EQ(snapping.accuracy_after, snapping.accuracy_before);
  const SnappedHead& head = snapping.heads[0];
  EXPECT_FALSE(head.off);
  EXPECT_FALSE(head.keys_snapped);
  EXPECT_THAT(head.problem, HasSubstr("beta of 1 stays 1.9993: at 2 only"));
  EXPECT_THAT(head.problem, HasSubstr("the keys stay: turned by up to"));
  EXPECT_EQ(StatesOf(model), states);
}

TEST_F(SnapTest, LayersItCannotSnap) {
  TestModel conv = ParityModel();
  conv.config["use_short_conv"] = true;
  conv.config["conv_size"] = 4;
  for (const char* name : {"q", "k", "v"}) {
    conv.Add(std::string("model.layers.0.attn.") + name + "_conv1d.weight", {4, 1, 4}, 1);
  }
  Model with_conv = Load(conv);
  EXPECT_THAT(MessageOf([&] { Snap(with_conv, Parity(), ParityTruth()); }),
              HasSubstr("here they depend on the last 4"));
  Model mamba = Load(TestMamba());
  EXPECT_THAT(MessageOf([&] { Snap(mamba, Parity(), ParityTruth()); }),
              HasSubstr("--snap: expected a model of delta_net layers, got mamba"));
}

TEST_F(SnapTest, TooManyInputs) {
  Model model = Load(NearlyParity("identity"));
  const Snapping snapping = Snap(model, Parity(), ParityTruth(), {.max_inputs = 1});
  EXPECT_FALSE(snapping.complete());
  EXPECT_THAT(snapping.heads[0].problem, HasSubstr("the layer's inputs take more than 1 values"));
}

}  // namespace
}  // namespace lrnn
