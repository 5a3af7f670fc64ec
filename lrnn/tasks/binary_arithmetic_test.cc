#include "lrnn/tasks/binary_arithmetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

using Wide = unsigned __int128;

template <typename Iterator>
Wide Number(Iterator lowest_first, Iterator end) {
  Wide value = 0;
  for (int bit = 0; lowest_first != end; ++lowest_first, ++bit) value |= Wide(*lowest_first) << bit;
  return value;
}

void CheckOperation(const std::string& name, int64_t slots_more, Wide (*operation)(Wide, Wide)) {
  const auto task = MakeTask(name);
  std::map<int64_t, int> sizes;
  for (uint64_t i = 0; i < 1000; ++i) {
    const int64_t length = 3 + static_cast<int64_t>(i % 100);
    const auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
    ASSERT_EQ(static_cast<int64_t>(tokens.size()), 2 * length + slots_more);
    const auto middle = std::find(tokens.begin(), tokens.end(), 2);
    if (length == 8) ++sizes[middle - tokens.begin()];
    const Wide a = Number(tokens.begin(), middle), b = Number(middle + 1, tokens.begin() + length);
    EXPECT_TRUE(a > 0 && b > 0);
    const auto end = std::find(targets.begin() + length, targets.end(), 3);
    ASSERT_NE(end, targets.end());
    EXPECT_TRUE(Number(targets.begin() + length, end) == operation(a, b)) << name << " " << i;
    EXPECT_EQ(*(end - 1), 1) << "no superfluous zeros";
    EXPECT_EQ(std::count(end, targets.end(), kNoTarget), targets.end() - end - 1) << "nothing after the end";
    EXPECT_EQ(std::count(tokens.begin() + length, tokens.end(), 4), length + slots_more);
  }
  EXPECT_GT(sizes.size(), 3u);
}

TEST(BinaryArithmetic, Sums) {
  CheckOperation("binary_addition", 1, [](Wide a, Wide b) { return a + b; });
}

TEST(BinaryArithmetic, Products) {
  CheckOperation("binary_multiplication", 0, [](Wide a, Wide b) { return a * b; });
}

TEST(BinaryArithmetic, Roots) {
  const auto task = MakeTask("compute_sqrt");
  for (uint64_t i = 0; i < 2000; ++i) {
    const int64_t length = 1 + static_cast<int64_t>(i % 120);
    const auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
    ASSERT_EQ(static_cast<int64_t>(tokens.size()), length + (length + 1) / 2);
    const auto question_end = tokens.rend() - length;
    const Wide number = Number(question_end, tokens.rend());
    const Wide root = Number(targets.rbegin(), targets.rend() - length);
    EXPECT_TRUE(number > 0);
    EXPECT_TRUE(root * root <= number && number < (root + 1) * (root + 1)) << i;
  }
}

// Long numbers by what they are modulo 2^31 - 1, and so for their squares.
TEST(BinaryArithmetic, LongNumbers) {
  const auto residue = [](auto begin, auto end) {  // the highest bit first
    uint64_t value = 0;
    for (; begin != end; ++begin) value = (2 * value + static_cast<uint64_t>(*begin)) % 2147483647;
    return value;
  };
  const auto [tokens, targets] = ReadExample(*MakeTask("binary_multiplication"), 3001, Rng(1, 1));
  const auto middle = std::find(tokens.begin(), tokens.end(), 2);
  const auto end = std::find(targets.begin() + 3001, targets.end(), 3);
  const uint64_t a = residue(std::reverse_iterator(middle), tokens.rend());
  const uint64_t b = residue(std::reverse_iterator(tokens.begin() + 3001), std::reverse_iterator(middle + 1));
  EXPECT_EQ(residue(std::reverse_iterator(end), std::reverse_iterator(targets.begin() + 3001)), a * b % 2147483647);
}

TEST(BinaryArithmetic, ExplainsItsValue) {
  EXPECT_EQ(MakeTask("binary_addition")->Explain(std::vector<int32_t>{0, 0, 1, 2, 0, 1, 1, 0, 1, 4, 4}), "4 + 22 = 26");
  EXPECT_EQ(MakeTask("binary_multiplication")->Explain(std::vector<int32_t>{0, 0, 1, 2, 0, 1, 1, 0, 1, 4}),
            "4 * 22 = 88");
  EXPECT_EQ(MakeTask("compute_sqrt")->Explain(std::vector<int32_t>{1, 0, 0, 1, 0, 1, 2, 2, 2}),
            "the root of 37 is 6, rounded down");
}

}  // namespace
}  // namespace lrnn
