#include "lrnn/runtime/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/registry.h"
#include "lrnn/runtime/test_attention.h"
#include "lrnn/runtime/test_delta_rule.h"
#include "lrnn/runtime/test_diagonal.h"
#include "lrnn/runtime/test_full_matrix.h"
#include "lrnn/runtime/test_gated_rnn.h"
#include "lrnn/runtime/test_gla.h"
#include "lrnn/runtime/test_mamba2.h"
#include "lrnn/runtime/test_mlstm.h"
#include "lrnn/runtime/test_model.h"
#include "lrnn/runtime/test_rotation.h"
#include "lrnn/runtime/test_token_matrix.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

std::vector<std::vector<float>> Logits(Session& session, const std::vector<int32_t>& tokens) {
  std::vector<std::vector<float>> logits;
  for (int32_t token : tokens) {
    const std::span<const float> row = session.Step(token);
    logits.emplace_back(row.begin(), row.end());
  }
  return logits;
}

// Each test runs for a model of every layer.
class RuntimeModelTest : public testing::TestWithParam<std::string> {
 protected:
  TestModel Make(const nlohmann::json& changes = nlohmann::json::object()) const {
    if (GetParam() == "attention") return TestAttention(changes);
    if (GetParam() == "delta_net") return TestDeltaNet(changes);
    if (GetParam() == "diagonal") return TestDiagonal(changes);
    if (GetParam() == "full_matrix") return TestFullMatrix(changes);
    if (GetParam() == "gated_deltanet") return TestGatedDeltaNet(changes);
    if (GetParam() == "gated_deltaproduct") return TestGatedDeltaProduct(changes);
    if (GetParam() == "gla") return TestGla(changes);
    if (GetParam() == "lstm") return TestLstm(changes);
    if (GetParam() == "mamba") return TestMamba(changes);
    if (GetParam() == "mamba2") return TestMamba2(changes);
    if (GetParam() == "mlstm") return TestMlstm(changes);
    if (GetParam() == "rotation") return TestRotation(changes);
    if (GetParam() == "token_matrix") return TestTokenMatrix(changes);
    if (GetParam() == "slstm") return TestSlstm(changes);
    throw std::runtime_error("no test model for " + GetParam());
  }

  std::string LoadMessage(const TestModel& model) {
    model.Write(directory_.path());
    return MessageOf([&] { RuntimeModel::Load(directory_.path()); });
  }

  TestDirectory directory_;
};

TEST_P(RuntimeModelTest, SessionsAreIndependentAndOutliveTheModel) {
  Make().Write(directory_.path());
  const std::vector<int32_t> tokens = RandomTokens(20, 7), others = RandomTokens(9, 5);
  std::unique_ptr<Session> session, other, fresh;
  {
    const RuntimeModel model = RuntimeModel::Load(directory_.path());
    session = model.NewSession();
    other = model.NewSession();
    fresh = model.NewSession();
  }
  const auto expected = Logits(*session, tokens);
  std::vector<std::vector<float>> interleaved;
  for (size_t t = 0; t < tokens.size(); ++t) {
    Logits(*other, {others[t % others.size()]});
    interleaved.push_back(Logits(*fresh, {tokens[t]})[0]);
  }
  EXPECT_EQ(interleaved, expected);
  EXPECT_NE(Logits(*session, tokens), expected);  // the stream goes on
  session->Reset();
  EXPECT_EQ(Logits(*session, tokens), expected);
}

TEST_P(RuntimeModelTest, SavedStatesGoOnWithTheSameNumbers) {
  Make().Write(directory_.path());
  const RuntimeModel model = RuntimeModel::Load(directory_.path());
  const std::vector<int32_t> tokens = RandomTokens(12, 7);
  const auto session = model.NewSession(), other = model.NewSession();
  Logits(*session, tokens);
  std::vector<float> state;
  if (session->StateBytes() > other->StateBytes()) {
    EXPECT_THAT(MessageOf([&] { session->SaveState(state); }), HasSubstr("grows with every token"));
    return;
  }
  session->SaveState(state);
  EXPECT_EQ(state.size() * sizeof(float), session->StateBytes());
  const auto expected = Logits(*session, tokens);
  other->LoadState(state);
  EXPECT_EQ(Logits(*other, tokens), expected);
  state.pop_back();
  EXPECT_THAT(MessageOf([&] { other->LoadState(state); }), HasSubstr("[Session::LoadState] expected"));
}

TEST_P(RuntimeModelTest, TokensOutsideTheVocabulary) {
  Make().Write(directory_.path());
  const RuntimeModel model = RuntimeModel::Load(directory_.path());
  const auto session = model.NewSession();
  const int64_t V = model.vocab_size();
  EXPECT_EQ(model.vocabulary().size(), V);
  for (int64_t token : {int64_t{-1}, V}) {
    EXPECT_EQ(MessageOf([&] { session->Step(static_cast<int32_t>(token)); }),
              fmt::format("[Session::Step] expected a token in 0 .. {} (vocabulary of {}), got {}", V - 1, V, token));
  }
  EXPECT_EQ(session->Step(static_cast<int32_t>(V - 1)).size(), V);
}

TEST_P(RuntimeModelTest, EachTensorMustBeThereWithItsShape) {
  const TestModel whole = Make({{"num_hidden_layers", 1}});
  const std::string file = (directory_ / "model.safetensors").string();
  for (const auto& [name, tensor] : whole.tensors) {
    TestModel without = whole;
    without.tensors.erase(name);
    EXPECT_EQ(LoadMessage(without), fmt::format("{}: tensor \"{}\" is missing", file, name));

    TestModel wrong = whole;
    wrong.tensors[name].shape.push_back(1);
    EXPECT_EQ(LoadMessage(wrong), fmt::format("{}: tensor \"{}\": expected shape {}, got {}", file, name,
                                              ShapeString(tensor.shape), ShapeString(wrong.tensors[name].shape)));
  }
}

TEST_P(RuntimeModelTest, TensorsOfNoPart) {
  TestModel model = Make();
  model.Add("extra.weight", {3}, 1);
  EXPECT_EQ(LoadMessage(model),
            directory_.path().string() + ": tensor \"extra.weight\" belongs to no part of the model");
}

TEST_P(RuntimeModelTest, TiedHeads) {
  // Without the key a stored head is used and a missing one is the embedding; a tied head may be stored all the same.
  const std::vector<int32_t> tokens = RandomTokens(3, 7);
  const auto run = [&](const TestModel& model) {
    model.Write(directory_.path());
    return Logits(*RuntimeModel::Load(directory_.path()).NewSession(), tokens);
  };
  TestModel untied = Make(), tied = Make({{"tie_word_embeddings", true}});
  const auto untied_logits = run(untied), tied_logits = run(tied);
  EXPECT_NE(untied_logits, tied_logits);
  untied.config.erase("tie_word_embeddings");
  EXPECT_EQ(run(untied), untied_logits);
  tied.config.erase("tie_word_embeddings");
  EXPECT_EQ(run(tied), tied_logits);
  untied.config["tie_word_embeddings"] = true;
  EXPECT_EQ(run(untied), tied_logits);
  tied.config["tie_word_embeddings"] = false;
  EXPECT_THAT(LoadMessage(tied), HasSubstr("tensor \"lm_head.weight\" is missing"));
}

TEST_P(RuntimeModelTest, ConfigErrors) {
  const std::string place = (directory_ / "config.json").string();
  EXPECT_EQ(LoadMessage(Make({{"vocab_size", 0}})),
            place + ": field \"vocab_size\": expected a positive integer, got 0");
  TestModel without = Make();
  without.config["vocab_size"] = nullptr;
  EXPECT_EQ(LoadMessage(without), place + ": field \"vocab_size\" is missing");
  TestModel layers = Make();
  layers.config["num_hidden_layers"] = 3;
  EXPECT_THAT(LoadMessage(layers), HasSubstr("layers.2."));
  layers.config["num_hidden_layers"] = 1;
  EXPECT_THAT(LoadMessage(layers), HasSubstr("belongs to no part of the model"));
  TestModel unknown = Make();
  unknown.config["model_type"] = "gpt2";
  EXPECT_THAT(LoadMessage(unknown), HasSubstr("field \"model_type\": expected one of delta_net, "));
  unknown.config.erase("model_type");
  EXPECT_EQ(LoadMessage(unknown), place + ": field \"model_type\" is missing");
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const RuntimeLayer& layer : RuntimeLayers()) names.emplace_back(layer.model_type);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Layers, RuntimeModelTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST(RuntimeModel, OldFormOfTheMlp) {
  const std::vector<int32_t> tokens = RandomTokens(3, 7);
  TestDirectory directory;
  TestModel model = TestDeltaNet();
  model.Write(directory.path());
  const auto expected = Logits(*RuntimeModel::Load(directory.path()).NewSession(), tokens);
  for (const std::string layer : {"model.layers.0.mlp.", "model.layers.1.mlp."}) {
    TestModel::Tensor& gate = model.tensors[layer + "gate_proj.weight"];
    const TestModel::Tensor up = model.tensors[layer + "up_proj.weight"];
    gate.shape[0] *= 2;
    gate.values.insert(gate.values.end(), up.values.begin(), up.values.end());
    model.tensors.erase(layer + "up_proj.weight");
  }
  model.Write(directory.path());
  EXPECT_EQ(Logits(*RuntimeModel::Load(directory.path()).NewSession(), tokens), expected);
  model.config["hidden_act"] = "gelu";
  model.Write(directory.path());
  EXPECT_THAT(MessageOf([&] { RuntimeModel::Load(directory.path()); }),
              HasSubstr("field \"hidden_act\": expected \"swish\" or \"silu\", got \"gelu\""));
}

TEST(RuntimeModel, HasTheVocabularyOfItsConfig) {
  TestDirectory directory;
  TestMamba({{"lrnn", {{"symbols", {"<pad>", "0", "1"}}, {"task", "parity"}}}}).Write(directory.path());
  const RuntimeModel model = RuntimeModel::Load(directory.path());
  EXPECT_THAT(model.vocabulary().Parse("10"), testing::ElementsAre(2, 1));
}

}  // namespace
}  // namespace lrnn
