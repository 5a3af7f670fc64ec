#include "lrnn/tasks/file_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lrnn/base/message_of.h"
#include "lrnn/tasks/batch.h"
#include "lrnn/tasks/registry.h"
#include "lrnn/tasks/temporary_file.h"

namespace lrnn {
namespace {

// `count` different sequences of 1 to 6 numbers; what is predicted at the last is whether their sum is odd.
std::string Sums(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    nlohmann::json tokens = {i / 6};
    int sum = i / 6;
    for (int j = 0; j < i % 6; ++j) tokens.push_back(j), sum += j;
    text += nlohmann::json{{"tokens", tokens}, {"target", sum % 2 ? "odd" : "even"}}.dump() + "\n";
  }
  return text;
}

std::set<std::vector<int32_t>> Drawn(const Task& task, LengthRange lengths, int count) {
  std::set<std::vector<int32_t>> drawn;
  for (int i = 0; i < count; ++i) {
    Rng rng(1, static_cast<uint64_t>(i));
    const int64_t length = task.DrawLength(lengths, rng);
    EXPECT_TRUE(length >= lengths.min && length <= lengths.max);
    drawn.insert(ReadExample(task, length, rng).tokens);
  }
  return drawn;
}

TEST(FileTask, ExamplesAreThoseOfTheFile) {
  const auto task = MakeTask("file", {{"file", TemporaryFile("all.jsonl", Sums(600)).path()}});
  const auto symbols = task->symbols();
  ASSERT_EQ(symbols.size(), 102u);
  EXPECT_EQ(symbols[0], "0");
  EXPECT_EQ(symbols[99], "99") << "numbers by value";
  EXPECT_EQ(symbols[100], "even");
  EXPECT_DOUBLE_EQ(task->chance(), 0.5);
  EXPECT_EQ(task->score(), Score::kTokens);
  for (const Task* side : {task.get(), &task->held_out()}) {
    for (uint64_t i = 0; i < 500; ++i) {
      Rng rng(1, i);
      const int64_t length = side->DrawLength({1, 6}, rng);
      const auto [tokens, targets] = ReadExample(*side, length, rng);
      ASSERT_EQ(static_cast<int64_t>(tokens.size()), length);
      EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length - 1);
      int sum = 0;
      for (int32_t token : tokens) sum += token;
      EXPECT_EQ(targets.back(), 100 + sum % 2);
    }
  }
}

TEST(FileTask, TheSplitHasNothingInCommonAndMissesNothing) {
  const auto task = MakeTask("file", {{"file", TemporaryFile("split.jsonl", Sums(600)).path()}, {"test_share", 0.3}});
  const auto train = Drawn(*task, {1, 100}, 12000), test = Drawn(task->held_out(), {1, 100}, 12000);
  EXPECT_EQ(train.size() + test.size(), 600u) << "all of them, none on both sides";
  for (const auto& tokens : test) EXPECT_FALSE(train.contains(tokens));
  EXPECT_NEAR(static_cast<double>(test.size()), 180, 40);
  EXPECT_EQ(&task->held_out().held_out(), &task->held_out());
}

TEST(FileTask, TheSplitDoesNotDependOnOtherExamples) {
  const auto few = MakeTask("file", {{"file", TemporaryFile("few.jsonl", Sums(300)).path()}, {"test_share", 0.3}});
  const auto many = MakeTask("file", {{"file", TemporaryFile("many.jsonl", Sums(600)).path()}, {"test_share", 0.3}});
  const auto in_many = Drawn(many->held_out(), {1, 100}, 12000);
  for (const auto& tokens : Drawn(few->held_out(), {1, 100}, 1000)) EXPECT_TRUE(in_many.contains(tokens));
}

TEST(FileTask, TestFileAndNoSplit) {
  const TemporaryFile file("train.csv", "tokens,target\na,x\nb,y\n");
  const TemporaryFile test_file("test.csv", "tokens,target\na b,y\n");
  const auto task = MakeTask("file", {{"file", file.path()}, {"test_file", test_file.path()}});
  EXPECT_EQ(Drawn(*task, {1, 9}, 50).size(), 2u);
  EXPECT_EQ(Drawn(task->held_out(), {1, 9}, 50), (std::set<std::vector<int32_t>>{{0, 1}}));
  const auto whole = MakeTask("file", {{"file", file.path()}, {"test_share", 0}});
  EXPECT_EQ(&whole->held_out(), whole.get());
}

TEST(FileTask, ExamplesAreEquallyLikely) {
  const TemporaryFile file("uneven.csv", "tokens,target\na,x\nb b,y\nc c,x\nd d,y\n");
  const auto task = MakeTask("file", {{"file", file.path()}, {"test_share", 0}, {"score", "sequence"}});
  EXPECT_EQ(task->score(), Score::kSequence);
  EXPECT_EQ(task->chance(), 0);
  const Batch batch = MakeBatch(*task, {1, 2}, 1, 0, 8000, 1);
  std::map<int64_t, int> counts;
  for (int64_t row : batch.rows) ++counts[batch.tokens[row]];
  for (const auto& [token, count] : counts) EXPECT_NEAR(count, 2000, 200);
}

TEST(FileTask, Symbols) {
  const TemporaryFile file("order.csv", "tokens,target\n10 b,x\n9 a,y\n");
  const nlohmann::json parameters = {{"file", file.path()}, {"test_share", 0}};
  EXPECT_THAT(MakeTask("file", parameters)->symbols(), testing::ElementsAre("9", "10", "a", "b", "x", "y"));
  nlohmann::json given = parameters;
  given["symbols"] = "y x b a 9 10 spare";
  EXPECT_THAT(MakeTask("file", given)->symbols(), testing::ElementsAre("y", "x", "b", "a", "9", "10", "spare"));
  given["symbols"] = "y x b a 10";
  EXPECT_EQ(MessageOf([&] { MakeTask("file", given); }), file.path() + ":3: \"9\" is not among the symbols");
  given["symbols"] = "y y";
  EXPECT_EQ(MessageOf([&] { MakeTask("file", given); }),
            "task \"file\": symbols: expected different symbols, got \"y y\"");
}

TEST(FileTask, Errors) {
  EXPECT_EQ(MessageOf([] { MakeTask("file"); }),
            "task \"file\": parameter \"file\" is missing: the examples, NAME.jsonl or NAME.csv");
  const TemporaryFile same("same.csv", "tokens,target\na,x\nb,x\n");
  EXPECT_EQ(MessageOf([&] {
              MakeTask("file", {{"file", same.path()}});
            }),
            same.path() + ": expected different targets, got only one");
  const TemporaryFile two("two.csv", "tokens,target\na,x\nb,y\n");
  EXPECT_EQ(
      MessageOf([&] {
        MakeTask("file", {{"file", two.path()}, {"test_share", 0.0001}});
      }),
      two.path() +
          ": of 2 examples 0 are held out by test_share = 0.0001; give more examples, another share or a test_file");
  const auto task = MakeTask("file", {{"file", two.path()}, {"test_share", 0}});
  EXPECT_EQ(MessageOf([&] {
              CheckLengths(*task, {2, 9});
            }),
            "[file] no example has a length from 2 to 9 (they have 1 to 1)");
}

}  // namespace
}  // namespace lrnn
