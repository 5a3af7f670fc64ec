#include "lrnn/experiments/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lrnn/base/message_of.h"
#include "lrnn/experiments/sample_experiment.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Experiment, ReadsAllParts) {
  const TestDirectory directory;
  const ExperimentFiles files = WriteSampleExperiment(directory.path());
  EXPECT_THAT(ExperimentNames(files), ElementsAre("sample"));
  const Experiment experiment = ReadExperiment(files, "sample");
  EXPECT_EQ(experiment.title, "Sample");
  EXPECT_EQ(experiment.evaluations.at(0).sequences, 8192);
  EXPECT_THAT(experiment.budgets.at("short").seeds, ElementsAre(1, 2));
  EXPECT_THAT(experiment.budgets.at("short").learning_rates, ElementsAre(1e-2, 1e-3));
  EXPECT_TRUE(experiment.budgets.at("short").has_spectrum);
  EXPECT_EQ(experiment.budgets.at("smoke").settings, Settings({{"train.steps", 3}}));
  ASSERT_EQ(experiment.groups.size(), 1u);
  const ExperimentGroup& group = experiment.groups[0];
  EXPECT_EQ(group.note, "One of them fails.");
  ASSERT_EQ(group.rows.size(), 2u);
  EXPECT_EQ(group.rows[0].config, "configs/paper/sample/delta_net.toml");
  EXPECT_EQ(group.rows[0].paper.best, 0.017);
  EXPECT_EQ(group.rows[0].paper.median, 0.010);
  EXPECT_THAT(group.rows[0].paper.curve, ElementsAre(Pair(3, 1), Pair(4, 0.5)));  // in our lengths
  EXPECT_EQ(group.rows[1].paper.median, std::nullopt);
  EXPECT_FALSE(group.rows[1].has_spectrum);
}

TEST(Experiment, ErrorsNameFileAndField) {
  const TestDirectory directory;
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string text = kSampleExperiment;
    text.replace(text.find(from), from.size(), to);
    const ExperimentFiles files = WriteSampleExperiment(directory.path(), text);
    const std::string all = MessageOf([&] { ReadExperiment(files, "sample"); });
    const std::string start = directory.path().string() + "/";
    return all.rfind(start, 0) == 0 ? all.substr(start.size()) : all;
  };
  EXPECT_EQ(message("\"scaled_accuracy\"", "\"speed\""),
            R"(configs/paper/sample.toml: field "score": expected scaled_accuracy or sequence_accuracy, got "speed")");
  EXPECT_EQ(
      message("lengths = [40, 256]\nc", "lengths = [40, 300]\nc"),
      R"(configs/paper/sample.toml: field "lengths": expected the lengths of one of the evaluations, got [40,300])");
  EXPECT_THAT(message("note =", "notes ="), HasSubstr(R"(groups[0]: field "notes": expected one of the fields)"));
  EXPECT_THAT(message("{\"train.steps\" = 3}", "{steps = 3}"),
              HasSubstr(R"("budgets.smoke.settings": expected settings such as {"train.steps" = 100})"));
  EXPECT_THAT(message("seeds = [1]", "seeds = []"), HasSubstr("expected at least one seed"));
  EXPECT_THAT(message("seeds = [1]", "seeds = [1.5]"), HasSubstr("expected integers that are not negative"));
  EXPECT_THAT(message("note =", "seeds = {short = []}\nnote ="),
              HasSubstr(R"(groups[0]: field "seeds.short": expected at least one seed)"));
  EXPECT_THAT(message("note =", "seeds = {long = [1]}\nnote ="), HasSubstr("expected one of the fields"));
  EXPECT_THAT(message("sample/delta_net.toml", "sample/nowhere.toml"), HasSubstr("configs/paper/sample/nowhere.toml"));
  EXPECT_THAT(message("title = \"Sample\"", "title = "), HasSubstr("configs/paper/sample.toml:1:"));
}

TEST(Experiment, BadCurvesAndUnknownNames) {
  const TestDirectory directory;
  const ExperimentFiles files = WriteSampleExperiment(directory.path());
  EXPECT_EQ(MessageOf([&] { ReadExperiment(files, "fig9"); }), "unknown experiment \"fig9\" (known: sample)");
  WriteText(directory / "data/paper/curves/delta.csv", "len,scaled_acc\n2,1\n3;4\n");
  EXPECT_THAT(MessageOf([&] { ReadExperiment(files, "sample"); }),
              HasSubstr("delta.csv:3: expected length,score, got \"3;4\""));
  EXPECT_THAT(MessageOf([&] { ExperimentFiles(directory / "nowhere"); }),
              HasSubstr("nowhere: expected a directory that holds configs/"));
}

// The experiments inside the program.
TEST(EmbeddedExperiments, AreThoseOfThePaperAndBeyond) {
  const ExperimentFiles files;
  EXPECT_THAT(ExperimentNames(files), ElementsAre("fig1", "fig3", "fig6", "table3", "modular_hybrids", "s5_products"));
  EXPECT_EQ(MessageOf([&] { files.Read("configs/paper/none.toml"); }),
            "configs/paper/none.toml: no such file in the program");
}

TEST(EmbeddedExperiments, UseEveryConfigurationOnce) {
  const ExperimentFiles files;
  std::set<std::string> used;
  for (const std::string& name : ExperimentNames(files)) {
    for (const ExperimentGroup& group : ReadExperiment(files, name).groups) {
      for (const ExperimentRow& row : group.rows) EXPECT_TRUE(used.insert(row.config).second) << row.config;
    }
  }
  size_t count = 0;
  for (const auto& [file, text] : EmbeddedFiles()) {
    const std::filesystem::path path(file);
    if (path.extension() != ".toml" || path.parent_path().parent_path() == "configs") continue;
    ++count;
    EXPECT_TRUE(used.contains(file)) << file;
  }
  EXPECT_EQ(used.size(), count);
}

TEST(EmbeddedExperiments, TableThreeHasThePapersNumbers) {
  const Experiment experiment = ReadExperiment(ExperimentFiles(), "table3");
  ASSERT_EQ(experiment.groups.size(), 3u);
  for (const ExperimentGroup& group : experiment.groups) {
    ASSERT_EQ(group.rows.size(), 6u);
    for (const ExperimentRow& row : group.rows) {
      EXPECT_TRUE(row.paper.best && row.paper.median && row.paper.mad) << row.config;
      EXPECT_GT(row.paper.curve.size(), 100u) << row.config;
      EXPECT_LE(row.paper.median.value(), row.paper.best.value()) << row.config;
    }
  }
  EXPECT_EQ(experiment.groups[1].rows[5].paper.best, 0.612);
  EXPECT_EQ(experiment.groups[1].rows[5].paper.mad, 0.189);
}

}  // namespace
}  // namespace lrnn
