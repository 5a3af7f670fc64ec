#include "lrnn/runtime/automaton_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "lrnn/base/message_of.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/runtime/automaton_model.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

// The parity of the number of 1s, by hand: one sign that the letter 1 flips.
AutomatonNetwork Parity() {
  AutomatonNetwork network;
  network.dfa = {2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {false, true}};
  network.mode = "relax";
  network.first_context = {0, 1};
  AutomatonLevel level;
  level.kind = LevelKind::kSign;
  level.tables = {2, {{0, 1}, {1, 0}}, {0, 1}, {{0, 1}, {1, 0}}};
  DeltaProductTable layer;
  layer.symbols = 2;
  layer.n_h = layer.K = 1;
  layer.k = {1.0f, 1.0f};
  layer.beta = {0.0f, 2.0f};
  layer.v = {0.0f, -1.0f};
  level.layers = {layer};
  network.levels = {level};
  network.proof = {{{0, 1}, {0}, {1}}, {0, -1, -1}, {{1, 2}, {}, {}}, {{{0, 0, 0, 0}, {0, 0, 1, 1}}}};
  return network;
}

TEST(AutomatonFiles, ComeBack) {
  const TestDirectory directory;
  WriteAutomaton(directory.path(), Parity());
  const ModelDirectory model = ModelDirectory::Open(directory.path());
  EXPECT_TRUE(IsAutomaton(model));
  const AutomatonNetwork network = ReadAutomaton(model);
  EXPECT_EQ(network.dfa.next, Parity().dfa.next);
  EXPECT_EQ(network.dfa.accepting, Parity().dfa.accepting);
  EXPECT_EQ(network.levels[0].layers[0].beta, Parity().levels[0].layers[0].beta);
  EXPECT_EQ(network.proof.children, Parity().proof.children);
  EXPECT_EQ(network.proof.cases[0][1].context, 1);
  // Written again, the files are the same.
  const TestDirectory again;
  WriteAutomaton(again.path(), network);
  EXPECT_EQ(ReadJson(again / "config.json"), ReadJson(directory / "config.json"));
}

TEST(AutomatonModel, RunsAndAnswers) {
  const TestDirectory directory;
  WriteAutomaton(directory.path(), Parity());
  const AutomatonModel model = AutomatonModel::Load(directory.path());
  AutomatonSession session = model.NewSession(), other = model.NewSession();
  EXPECT_FALSE(session.accepting());
  std::vector<int> states;
  for (const int32_t letter : model.vocabulary().Parse("10110")) states.push_back(session.Step(letter));
  EXPECT_EQ(states, (std::vector<int>{1, 1, 0, 1, 1}));
  EXPECT_TRUE(session.accepting());
  EXPECT_EQ(other.state(), 0);
  session.Reset();
  EXPECT_EQ(session.Step(0), 0);
  EXPECT_EQ(MessageOf([&] { session.Step(2); }), "[AutomatonSession::Step] expected a letter in 0 .. 1, got 2");
  session.Reset();
  const std::vector<int> letters = {1, 0, 1, 1, 0};
  session.Run(letters, states);
  EXPECT_EQ(states, (std::vector<int>{1, 1, 0, 1, 1}));
  EXPECT_EQ(session.state(), 1);
  EXPECT_EQ(session.Step(1), 0) << "goes on from there";
  EXPECT_EQ(MessageOf([&] {
              session.Run(std::vector<int>{0, 7}, std::span(states).first(2));
            }),
            "[AutomatonSession::Run] expected a letter in 0 .. 1, got 7");
  EXPECT_EQ(MessageOf([&] { session.Run(letters, std::span(states).first(2)); }),
            "[AutomatonSession::Run] expected room for 5 states, got 2");
  AutomatonNetwork wrong = Parity();
  wrong.levels[0].layers[0].beta[1] = 1.0f;  // writes S = v = -1, which is neither sign
  AutomatonSession lost = AutomatonModel(wrong).NewSession();
  EXPECT_THAT(MessageOf([&] { lost.Step(1); }), HasSubstr("the layers hold no state of the automaton"));
}

TEST(AutomatonFiles, WhatIsWrongIsSaid) {
  const auto problem = [](const std::function<void(nlohmann::json&, AutomatonNetwork&)>& change) {
    const TestDirectory directory;
    AutomatonNetwork network = Parity();
    nlohmann::json config = nlohmann::json::object();
    change(config, network);
    WriteAutomaton(directory.path(), network);
    nlohmann::json written = ReadJson(directory / "config.json");
    written.merge_patch(config);
    WriteJson(directory / "config.json", written);
    const std::string message = MessageOf([&] { AutomatonModel::Load(directory.path()); });
    EXPECT_THAT(message, HasSubstr(directory.path().string()));
    return message;
  };
  const auto field = [&](const char* name, const nlohmann::json& value) {
    return problem([&](nlohmann::json& config, AutomatonNetwork&) { config[name] = value; });
  };
  EXPECT_THAT(field("model_type", "mamba"), HasSubstr("field \"model_type\": expected \"lrnn_automaton\""));
  EXPECT_THAT(field("format_version", 2), HasSubstr("field \"format_version\": expected 1, got 2"));
  EXPECT_THAT(field("vocab_size", 3), HasSubstr("field \"vocab_size\": expected 2, the number of symbols, got 3"));
  EXPECT_THAT(field("num_states", 3), HasSubstr("tensor \"transitions\": expected shape [2, 3], got [2, 2]"));
  EXPECT_THAT(field("start", 2), HasSubstr("the start state 2 is not among the 2 states"));
  EXPECT_THAT(field("accepting", {0, 2}), HasSubstr("field \"accepting\": expected states, got 2"));
  EXPECT_THAT(field("accepting", 1), HasSubstr("field \"accepting\": expected a list of states"));
  EXPECT_THAT(field("keys", "long"), HasSubstr("field \"keys\": expected one of exact, dup, unit, got \"long\""));
  EXPECT_THAT(field("output", "word"), HasSubstr("field \"output\": expected one of acceptance, state"));
  EXPECT_THAT(field("levels", 5), HasSubstr("field \"levels\": expected a list"));
  EXPECT_THAT(field("levels", {5}), HasSubstr("levels[0]: expected a JSON object, got 5"));
  EXPECT_THAT(field("levels", {{{"kind", "heap"}}}), HasSubstr("levels[0]: field \"kind\": expected one of fixed"));
  EXPECT_THAT(field("mode", "fast"), HasSubstr("field \"mode\": expected one of relax, sub"));

  const auto network = [&](const std::function<void(AutomatonNetwork&)>& change) {
    return problem([&](nlohmann::json&, AutomatonNetwork& n) { change(n); });
  };
  EXPECT_THAT(network([](auto& n) { n.dfa.next[0][1] = 2; }), HasSubstr("leads from state 1 to 2, which is not among"));
  EXPECT_THAT(network([](auto& n) { n.first_context[0] = 2; }), HasSubstr("expected a first context in 0 .. 1, got 2"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].tables.next[0][0] = 2; }),
              HasSubstr("level 0: expected a next context in -1 .. 1, got 2"));
  EXPECT_THAT(network([](auto& n) {
                n.levels[0].tables.actions[1] = {0, 2};
              }),
              HasSubstr("level 0: expected a label in 0 .. 1, got 2"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].tables.action_of[1] = -1; }),
              HasSubstr("level 0: expected an action in 0 .. 1, got -1"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].kind = LevelKind::kSlot; }),
              HasSubstr("level 0: action 1 is not one of a level of kind slot"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].kind = LevelKind::kRotation; }), HasSubstr("expected K = 2, got 1"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].kind = LevelKind::kPermutedSlot; }),
              HasSubstr("expected 2 layers, got 1"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].delay = true; }), HasSubstr("expected K = 2, got 1"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].layers[0].beta[0] = std::nanf(""); }), HasSubstr("a weight is nan"));
  EXPECT_THAT(network([](auto& n) { n.levels[0].layers[0].copies = 3; }), HasSubstr("expected 1 or 2 copies, got 3"));
  EXPECT_THAT(network([](auto& n) {
                n.levels[0].kind = LevelKind::kPoints;
                n.levels[0].codes = {{0, 1}, {0, 1}};
              }),
              HasSubstr("expected codes that are different permutations of 2 points"));
}

}  // namespace
}  // namespace lrnn
