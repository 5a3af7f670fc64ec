#include "lrnn/tasks/string_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

using String = std::vector<int32_t>;

// The question and the answer of an example, after a look at its layout.
std::pair<String, String> Draw(const Task& task, int64_t length, int64_t answer, uint64_t i) {
  const auto [tokens, targets] = ReadExample(task, length, Rng(1, i));
  EXPECT_EQ(static_cast<int64_t>(tokens.size()), length + answer);
  const int32_t out = static_cast<int32_t>(task.vocab_size()) - 1;
  for (size_t t = 0; t < tokens.size(); ++t) {
    EXPECT_EQ(tokens[t] == out, t >= static_cast<size_t>(length));
    EXPECT_EQ(targets[t] == kNoTarget, t < static_cast<size_t>(length));
  }
  return {String(tokens.begin(), tokens.begin() + length), String(targets.begin() + length, targets.end())};
}

TEST(StringTasks, Answers) {
  for (uint64_t i = 0; i < 200; ++i) {
    const int64_t n = 1 + static_cast<int64_t>(i % 25);
    const auto [forward, backward] = Draw(*MakeTask("reverse_string"), n, n, i);
    for (int64_t t = 0; t < n; ++t) EXPECT_EQ(backward[t], forward[n - 1 - t]);
    const auto [once, twice] = Draw(*MakeTask("duplicate_string"), n, 2 * n, i);
    for (int64_t t = 0; t < 2 * n; ++t) EXPECT_EQ(twice[t], once[t % n]);
    const auto [mixed, odds_first] = Draw(*MakeTask("odds_first"), n, n, i);
    for (int64_t t = 0; t < n; ++t) {
      const int64_t place = t % 2 == 0 ? t / 2 : (n + 1) / 2 + t / 2;  // t = 0 is the 1st symbol
      EXPECT_EQ(odds_first[place], mixed[t]);
    }
    const auto [wild, sorted] = Draw(*MakeTask("bucket_sort"), n, n, i);
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
    for (int32_t symbol = 0; symbol < 5; ++symbol) {
      EXPECT_EQ(std::count(wild.begin(), wild.end(), symbol), std::count(sorted.begin(), sorted.end(), symbol));
    }
  }
}

TEST(StringTasks, AlphabetAndChance) {
  EXPECT_EQ(MakeTask("reverse_string")->symbols(), (std::vector<std::string>{"0", "1", "<out>"}));
  EXPECT_DOUBLE_EQ(MakeTask("bucket_sort")->chance(), 0.2);
  EXPECT_DOUBLE_EQ(MakeTask("bucket_sort", {{"alphabet", 8}})->chance(), 0.125);
}

}  // namespace
}  // namespace lrnn
