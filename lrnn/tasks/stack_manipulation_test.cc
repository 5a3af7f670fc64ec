#include "lrnn/tasks/stack_manipulation.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

TEST(StackManipulation, AnswersAreTheFinalStack) {
  const auto task = MakeTask("stack_manipulation");
  const auto symbols = task->symbols();
  for (uint64_t i = 0; i < 1000; ++i) {
    const int64_t length = 1 + static_cast<int64_t>(i % 30);
    const auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
    ASSERT_EQ(static_cast<int64_t>(tokens.size()), 2 * length + 1);
    std::deque<std::string> stack;  // top first
    bool acted = false;
    for (int64_t t = 0; t < length; ++t) {
      const std::string symbol = symbols[tokens[t]];
      EXPECT_EQ(targets[t], kNoTarget);
      if (symbol == "0" || symbol == "1") {
        EXPECT_FALSE(acted) << "the stack comes first";
        stack.push_front(symbol);
        continue;
      }
      acted = true;
      if (symbol == "push0") stack.push_front("0");
      if (symbol == "push1") stack.push_front("1");
      if (symbol == "pop" && !stack.empty()) stack.pop_front();
    }
    EXPECT_EQ(acted, length > 1);
    stack.push_back("<end>");
    for (int64_t t = 0; t <= length; ++t) {
      EXPECT_EQ(symbols[tokens[length + t]], "<out>");
      const int32_t target = targets[length + t];
      EXPECT_EQ(target == kNoTarget ? "" : symbols[target],
                t < static_cast<int64_t>(stack.size()) ? stack[t] : std::string());
    }
  }
}

TEST(StackManipulation, TheFirstStackHasAnySize) {
  const auto task = MakeTask("stack_manipulation");
  std::map<int64_t, int> sizes;
  for (uint64_t i = 0; i < 4000; ++i) {
    const auto tokens = ReadExample(*task, 5, Rng(2, i)).tokens;
    ++sizes[std::find_if(tokens.begin(), tokens.end(), [](int32_t token) { return token > 1; }) - tokens.begin()];
  }
  EXPECT_EQ(sizes.size(), 4u);
  for (const auto& [size, count] : sizes) EXPECT_NEAR(count, 1000, 150) << size;
}

}  // namespace
}  // namespace lrnn
