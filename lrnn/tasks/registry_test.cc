// What every registered task must keep to.
#include "lrnn/tasks/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

struct Instance {
  std::string name;
  nlohmann::json parameters = nlohmann::json::object();
};

// Every task as it is, and those with parameters in more than one form. (Files have tests of their own.)
std::vector<Instance> Instances() {
  std::vector<Instance> instances;
  for (const TaskInfo& info : Tasks()) {
    if (!info.NeedsParameters()) instances.push_back({info.name});
  }
  const std::vector<Instance> more = {
      {"cycle_navigation", {{"cycle", 6}}},
      {"modular_arithmetic", {{"modulus", 7}}},
      {"modular_arithmetic_brackets", {{"multiplication", true}}},
      {"bucket_sort", {{"alphabet", 3}}},
      {"group", {{"group", "S5"}, {"tokens", 4}, {"max_moved", 3}}},
      {"group", {{"group", "Z60"}, {"tokens", 2}, {"bos", false}}},
      {"group", {{"group", "(0 1 2 3), (0 2)"}, {"inputs", "generators"}}},
      {"regex", {{"regex", "(a|b)*abb"}}},
      {"regex", {{"regex", "(ab|ba)*"}, {"predict", "state"}, {"letters", "live"}}},
  };
  instances.insert(instances.end(), more.begin(), more.end());
  return instances;
}

// Reads an example in pieces of the given size.
Example ReadInPieces(const Task& task, int64_t length, Rng rng, size_t piece) {
  const size_t size = task.tokens(length);
  Example example{std::vector<int32_t>(size), std::vector<int32_t>(size)};
  const auto stream = task.Open(length, rng);
  for (size_t at = 0; at < size; at += piece) {
    const size_t count = std::min(piece, size - at);
    stream->Read(std::span(example.tokens).subspan(at, count), std::span(example.targets).subspan(at, count));
  }
  return example;
}

TEST(Tasks, Contract) {
  for (const Instance& instance : Instances()) {
    SCOPED_TRACE(instance.name + " " + instance.parameters.dump());
    const auto task = MakeTask(instance.name, instance.parameters);
    EXPECT_EQ(task->name(), instance.name);
    EXPECT_GE(task->chance(), 0);
    EXPECT_LT(task->chance(), 1);
    EXPECT_EQ(&task->held_out(), task.get()) << "new examples need no split";
    const auto symbols = task->symbols();
    EXPECT_EQ(std::set<std::string>(symbols.begin(), symbols.end()).size(), symbols.size());
    EXPECT_THAT(symbols, testing::Each(testing::Not(testing::AnyOf("", testing::HasSubstr(" ")))));
    const auto is_token = testing::AllOf(testing::Ge(0), testing::Lt(task->vocab_size()));
    for (int64_t length : {task->min_length(), int64_t{3}, int64_t{4}, int64_t{5}, int64_t{40}, int64_t{257}}) {
      const Example whole = ReadExample(*task, length, Rng(1, 5));
      EXPECT_EQ(ReadExample(*task, length, Rng(1, 5)), whole) << "same seed, same example";
      EXPECT_EQ(ReadInPieces(*task, length, Rng(1, 5), 7), whole) << "pieces do not matter";
      EXPECT_EQ(static_cast<int64_t>(whole.tokens.size()), task->tokens(length));
      EXPECT_THAT(whole.tokens, testing::Each(is_token));
      EXPECT_THAT(whole.targets, testing::Each(testing::AnyOf(kNoTarget, is_token)));
      EXPECT_THAT(whole.targets, testing::Contains(testing::Ne(kNoTarget)));
    }
    EXPECT_NE(ReadExample(*task, 40, Rng(1, 6)), ReadExample(*task, 40, Rng(1, 5)));
    EXPECT_NE(ReadExample(*task, 40, Rng(2, 5)), ReadExample(*task, 40, Rng(1, 5)));
    EXPECT_THAT(MessageOf([&] { task->Open(task->min_length() - 1, Rng(1, 0)); }),
                testing::HasSubstr("expected a length of at least"));
    std::vector<int32_t> tokens(task->tokens(40) + 1), targets(tokens.size());
    EXPECT_THAT(MessageOf([&] { task->Open(40, Rng(1, 1))->Read(tokens, targets); }),
                testing::HasSubstr("expected to read at most"));
    for (uint64_t i = 0; i < 50; ++i) {
      Rng rng(3, i);
      const int64_t length = task->DrawLength({10, 21}, rng);
      EXPECT_THAT(length, testing::AllOf(testing::Ge(9), testing::Le(21)));
      EXPECT_EQ(static_cast<int64_t>(ReadExample(*task, length, rng).tokens.size()), task->tokens(length));
    }
  }
}

// A task without a limit reads a million tokens piece by piece; one with a limit says so.
TEST(Tasks, LongExamples) {
  std::vector<int32_t> tokens(1000), targets(1000);
  for (const Instance& instance : Instances()) {
    SCOPED_TRACE(instance.name + " " + instance.parameters.dump());
    const auto task = MakeTask(instance.name, instance.parameters);
    if (task->max_length() < Task::kNoLimit) {
      EXPECT_THAT(MessageOf([&] { task->Open(task->max_length() + 1, Rng(1, 1)); }),
                  testing::HasSubstr(fmt::format("[{}] expected a length of at most {} (the whole example is held in "
                                                 "memory), got {}",
                                                 task->name(), task->max_length(), task->max_length() + 1)));
      continue;
    }
    const auto stream = task->Open(1'000'000'000, Rng(1, 1));
    for (int piece = 0; piece < 20; ++piece) stream->Read(tokens, targets);
  }
}

TEST(Tasks, EveryTaskIsCovered) {
  for (const TaskInfo& info : Tasks()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_EQ(&FindTask(info.name), &info);
    const bool needs = info.name == "regex" || info.name == "dfa" || info.name == "file";
    EXPECT_EQ(info.NeedsParameters(), needs) << info.name;
  }
}

TEST(Tasks, Scaled) {
  EXPECT_DOUBLE_EQ(MakeTask("parity")->Scaled(0.5), 0);
  EXPECT_DOUBLE_EQ(MakeTask("parity")->Scaled(1.0), 1);
  EXPECT_DOUBLE_EQ(MakeTask("modular_arithmetic")->Scaled(0.2), 0);
  EXPECT_DOUBLE_EQ(MakeTask("modular_arithmetic")->Scaled(0.6), 0.5);
}

TEST(Tasks, UnknownName) {
  EXPECT_THAT(MessageOf([] { MakeTask("party"); }),
              testing::HasSubstr("unknown task \"party\" (known: parity, modular_arithmetic"));
}

}  // namespace
}  // namespace lrnn
