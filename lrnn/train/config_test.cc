#include "lrnn/train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

const std::string kText = R"([task]
name = "parity"
train_lengths = [3, 40]
eval_lengths = [40, 256]

[model]
layer = "delta_net"
eigenvalues = "[-1, 1]"
hidden_size = 32
num_hidden_layers = 1
num_heads = 2

[train]
steps = 100
batch_size = 8
learning_rate = 1e-3
)";

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string MessageWith(const std::string& from, const std::string& to) {
  return MessageOf([&] { ParseTrainConfig(Replace(kText, from, to), "parity.toml"); });
}

TEST(TrainConfig, ReadsWhatItSaysAndFillsInTheRest) {
  const TrainConfig config = ParseTrainConfig(kText, "parity.toml");
  EXPECT_EQ(config.task->name(), "parity");
  EXPECT_EQ(config.train_lengths.max, 40);
  EXPECT_EQ(config.eval_lengths.min, 40);
  EXPECT_EQ(config.model.at("model_type"), "delta_net");
  EXPECT_EQ(config.model.at("allow_neg_eigval"), true);
  EXPECT_EQ(config.model.at("vocab_size"), 3);
  EXPECT_EQ(config.model.at("num_heads"), 2);
  EXPECT_EQ(config.model.at("lrnn").at("symbols").size(), 3u);
  EXPECT_EQ(config.steps, 100);
  EXPECT_EQ(config.warmup_steps, 0);
  EXPECT_DOUBLE_EQ(config.learning_rate, 1e-3);
  EXPECT_DOUBLE_EQ(config.beta2, 0.999);
  EXPECT_EQ(config.label_smoothing, 0);
  EXPECT_EQ(config.text, kText);
  EXPECT_EQ(ParseTrainConfig(Replace(kText, "[-1, 1]", "[0,1]"), "f").model.at("allow_neg_eigval"), false);
}

TEST(TrainConfig, ParametersReachTheTask) {
  const std::string text = Replace(kText, "name = \"parity\"", "name = \"group\"\ngroup = \"S3\"\ntokens = 2");
  const TrainConfig config = ParseTrainConfig(text, "group.toml");
  EXPECT_EQ(config.task->vocab_size(), 6 + 1 + 7);
  EXPECT_EQ(config.model.at("vocab_size"), 14);
  EXPECT_EQ(config.model.at("lrnn").at("task_parameters").dump(), R"({"group":"S3","tokens":2})");
  EXPECT_EQ(ParseTrainConfig(text, "group.toml", {"task.bos=false"}).task->vocab_size(), 7);
  const auto message = [&](const std::string& from, const std::string& to) {
    return MessageOf([&] { ParseTrainConfig(Replace(text, from, to), "group.toml"); });
  };
  EXPECT_EQ(message("tokens = 2", "token = 2"),
            "group.toml:4: [task] unknown key \"token\" (did you mean \"tokens\"?)");
  EXPECT_EQ(message("tokens = 2", "tokens = true"),
            "group.toml:2: [task] task \"group\": tokens: expected an integer, got true");
  EXPECT_EQ(message("tokens = 2", "tokens = [2]"),
            "group.toml:4: [task] tokens: expected a number, a string, true or false, got [ 2 ]");
  EXPECT_EQ(MessageOf([&] {
              ParseTrainConfig(Replace(Replace(kText, "parity", "compute_sqrt"), "256", "20000"), "sqrt.toml");
            }),
            "sqrt.toml:4: [task] expected lengths from 1 to 16384 for task compute_sqrt, got 40:20000");
}

TEST(TrainConfig, OverridesAreKeptInTheText) {
  const TrainConfig config =
      ParseTrainConfig(kText, "parity.toml", {"train.steps=7", "train.seed=3", "run.title=two words"});
  EXPECT_EQ(config.steps, 7);
  EXPECT_EQ(config.seed, 3u);
  const TrainConfig again = ParseTrainConfig(config.text, "copy.toml");
  EXPECT_EQ(again.steps, 7);
  EXPECT_EQ(again.model, config.model);
  EXPECT_THAT(config.text, HasSubstr("two words"));
}

TEST(TrainConfig, ErrorsGiveThePlace) {
  EXPECT_EQ(MessageWith("steps = 100", "step = 100"), "parity.toml:13: [train] key \"steps\" is missing");
  EXPECT_EQ(MessageWith("batch_size = 8", "batch_size = 8\nsead = 1"),
            "parity.toml:16: [train] unknown key \"sead\" (did you mean \"seed\"?)");
  EXPECT_EQ(MessageWith("steps = 100", "steps = \"many\""),
            "parity.toml:14: [train] steps: expected an integer of at least 1, got 'many'");
  EXPECT_EQ(MessageWith("steps = 100", "steps = 0"),
            "parity.toml:14: [train] steps: expected an integer of at least 1, got 0");
  EXPECT_EQ(MessageWith("1e-3", "-1.0"),
            "parity.toml:16: [train] learning_rate: expected a number of at least 0, got -1.0");
  EXPECT_EQ(MessageWith("1e-3", "nan"),
            "parity.toml:16: [train] learning_rate: expected a number of at least 0, got nan");
  EXPECT_THAT(MessageWith("\"parity\"", "\"party\""),
              HasSubstr("parity.toml:2: [task] unknown task \"party\" (known: parity"));
  EXPECT_EQ(MessageWith("[3, 40]", "[40, 3]"),
            "parity.toml:3: [task] train_lengths: expected two integers [shortest, longest], got [ 40, 3 ]");
  EXPECT_EQ(MessageWith("[3, 40]", "[1, 40]"),
            "parity.toml:3: [task] train_lengths: expected lengths from 2 on for this task, got [ 1, 40 ]");
  EXPECT_THAT(MessageWith("delta_net", "delta_nut"),
              HasSubstr("parity.toml:7: [model] unknown layer \"delta_nut\" (known: delta_net"));
  EXPECT_EQ(MessageWith("[-1, 1]", "[-2,1]"),
            "parity.toml:8: [model] eigenvalues: expected \"[0,1]\" or \"[-1,1]\", got '[-2,1]'");
  EXPECT_EQ(MessageWith("num_heads = 2", "heads = 2"), "parity.toml:11: [model] unknown key \"heads\"");
  EXPECT_THAT(MessageWith("num_heads = 2", "num_heads = 3"),
              HasSubstr("parity.toml:7: [model]: field \"num_heads\": expected a divisor of 32"));
  EXPECT_EQ(MessageWith("[train]", "[training]"),
            "parity.toml:13: unknown section [training] (known: run, task, model, train, reference)");
  EXPECT_THAT(MessageWith("steps = 100", "steps = "), HasSubstr("parity.toml:14:"));
  EXPECT_EQ(MessageWith("steps = 100", "steps = 100\nwarmup_steps = 101"),
            "parity.toml:15: [train] warmup_steps: expected at most steps = 100, got 101");
  for (const char* start : {"1", "41"}) {
    EXPECT_EQ(
        MessageWith("steps = 100", fmt::format("steps = 100\ncurriculum_start = {}", start)),
        fmt::format("parity.toml:15: [train] curriculum_start: expected 0 or a length from 2 to 40, got {}", start));
  }
  EXPECT_EQ(MessageWith("steps = 100", "steps = 100\nprecision = \"fp16\""),
            "parity.toml:15: [train] precision: expected \"fp32\" or \"bf16\", got 'fp16'");
  EXPECT_EQ(MessageWith("steps = 100", "steps = 100\nclip_gradient_norm = 0.0"),
            "parity.toml:15: [train] clip_gradient_norm: expected a number above 0, got 0.0");
  EXPECT_EQ(MessageWith("steps = 100", "steps = 100\nlabel_smoothing = 1.0"),
            "parity.toml:15: [train] label_smoothing: expected a number below 1, got 1.0");
}

TEST(TrainConfig, LayersOfSeveralKinds) {
  const auto parse = [](const std::string& layers) {
    std::string text = kText;
    text.replace(text.find("layer = \"delta_net\""), 19, "layers = " + layers);
    text.replace(text.find("num_hidden_layers = 1"), 21, "num_hidden_layers = 4");
    return ParseTrainConfig(text, "parity.toml").model;
  };
  const nlohmann::json model = parse(R"(["delta_net", {layer = "gla", num_heads = 4, eigenvalues = "[0,1]"}])");
  EXPECT_EQ(model["model_type"], "hybrid");
  EXPECT_EQ(model["layers"], nlohmann::json::parse(R"(["delta_net", {"layer": "gla", "num_heads": 4,
                                                       "allow_neg_eigval": false}])"));
  EXPECT_EQ(model["allow_neg_eigval"], true);
  EXPECT_EQ(model["num_heads"], 2);

  const auto message = [&](const std::string& layers) { return MessageOf([&] { parse(layers); }); };
  const std::string place = "parity.toml:7: [model] ";
  EXPECT_THAT(message("[]"), HasSubstr(place + "layers: expected a list of layers, got "));
  EXPECT_THAT(message("\"gla\""), HasSubstr(place + "layers: expected a list of layers, got "));
  EXPECT_THAT(message(R"(["gla", "glo"])"), HasSubstr(place + "unknown layer \"glo\" (known: delta_net"));
  EXPECT_THAT(message(R"(["gla", {num_heads = 2}])"),
              HasSubstr(place + "layers: expected names of layers, and tables with a name as \"layer\", got "));
  EXPECT_THAT(message(R"([{layer = "gla", num_heads = [2]}])"),
              HasSubstr(place + "layers: expected numbers, strings, true and false in the tables, got "));
  EXPECT_EQ(message(R"([{layer = "gla", eigenvalues = "[0,2]"}])"),
            place + R"(eigenvalues of gla: expected "[0,1]" or "[-1,1]", got "[0,2]")");
  EXPECT_EQ(message(R"(["gla", {layer = "delta_net", size = 2}])"),
            "parity.toml:7: [model]: layers[1]: unknown key \"size\" of delta_net");
  EXPECT_EQ(
      message(R"(["gla", "gla", "delta_net"])"),
      R"(parity.toml:7: [model]: field "num_hidden_layers": expected a multiple of 3 (the number of "layers"), got 4)");
  EXPECT_EQ(MessageWith("num_heads = 2", "layers = [\"gla\"]"),
            "parity.toml:11: [model] expected \"layer\" or \"layers\", got both");
}

TEST(TrainConfig, ErrorsOfOverridesNameTheCommandLine) {
  const auto message = [](const std::string& assignment) {
    return MessageOf([&] { ParseTrainConfig(kText, "parity.toml", {assignment}); });
  };
  EXPECT_EQ(message("train.steps"), "--set: expected key=value, got \"train.steps\"");
  EXPECT_EQ(message("steps=4"), "--set: expected section.key=value, got \"steps=4\"");
  EXPECT_EQ(message("train.steps=x"), "--set: [train] steps: expected an integer of at least 1, got 'x'");
  EXPECT_EQ(message("train.step=3"), "--set: [train] unknown key \"step\" (did you mean \"steps\"?)");
}

TEST(TrainConfig, MissingFile) {
  EXPECT_THAT(MessageOf([] { ReadTrainConfig("no/such.toml"); }), HasSubstr("no/such.toml"));
}

}  // namespace
}  // namespace lrnn
