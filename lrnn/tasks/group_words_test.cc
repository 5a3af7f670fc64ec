#include "lrnn/tasks/group_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "lrnn/base/message_of.h"
#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

using Product = std::function<int(int, int)>;

// S_n written down anew: permutations in lexicographic order, (a * b)[i] = a[b[i]].
struct Symmetric {
  explicit Symmetric(int n) {
    std::vector<int> p(n);
    std::iota(p.begin(), p.end(), 0);
    do {
      ids[p] = static_cast<int>(elements.size());
      elements.push_back(p);
    } while (std::next_permutation(p.begin(), p.end()));
  }

  int Multiply(int a, int b) const {
    std::vector<int> product;
    for (int point : elements[b]) product.push_back(elements[a][point]);
    return ids.at(product);
  }

  std::vector<std::vector<int>> elements;
  std::map<std::vector<int>, int> ids;
};

// Without restrictions: <bos> first, then at each position the product so far.
void CheckWords(const nlohmann::json& parameters, int order, const Product& multiply) {
  SCOPED_TRACE(parameters.dump());
  const auto task = MakeTask("group", parameters);
  EXPECT_EQ(task->vocab_size(), order + 7);
  EXPECT_EQ(task->score(), Score::kSequence);
  EXPECT_EQ(task->chance(), 0);
  std::set<int32_t> drawn;
  for (uint64_t i = 0; i < 60; ++i) {
    const auto [tokens, targets] = ReadExample(*task, 50, Rng(1, i));
    ASSERT_EQ(tokens.size(), 51u);
    ASSERT_EQ(tokens[0], order + 1);
    ASSERT_EQ(targets[0], order + 1);
    int product = 0;
    for (size_t t = 1; t < tokens.size(); ++t) {
      ASSERT_TRUE(tokens[t] >= 0 && tokens[t] < order);
      drawn.insert(tokens[t]);
      product = multiply(product, tokens[t]);
      ASSERT_EQ(targets[t], product);
    }
  }
  EXPECT_EQ(static_cast<int>(drawn.size()), order) << "every element occurs";
}

TEST(GroupWords, SymmetricGroup) {
  const Symmetric s5(5);
  const auto multiply = [&](int a, int b) { return s5.Multiply(a, b); };
  EXPECT_EQ(multiply(1, 2), 4);
  EXPECT_EQ(multiply(2, 1), 3);
  EXPECT_EQ(multiply(24, 1), 25);
  EXPECT_EQ(multiply(5, 7), 18);
  EXPECT_EQ(multiply(119, 33), 86);
  CheckWords({{"group", "S5"}}, 120, multiply);
  EXPECT_EQ(MakeTask("group")->vocab_size(), 127) << "S5 is the default";
}

TEST(GroupWords, OtherGroups) {
  CheckWords({{"group", "Z60"}}, 60, [](int a, int b) { return (a + b) % 60; });
  CheckWords({{"group", "Z2"}}, 2, [](int a, int b) { return a ^ b; });

  const Symmetric s5(5), s4(4);
  const auto even = [](const Symmetric& group) {
    std::vector<int> ids;
    for (size_t id = 0; id < group.elements.size(); ++id) {
      int inversions = 0;
      const auto& p = group.elements[id];
      for (size_t i = 0; i < p.size(); ++i) {
        for (size_t j = 0; j < i; ++j) inversions += p[j] > p[i];
      }
      if (inversions % 2 == 0) ids.push_back(static_cast<int>(id));
    }
    return ids;
  };
  const auto within = [](const std::vector<int>& ids, const Symmetric& group, int a, int b) {
    const int product = group.Multiply(ids[a], ids[b]);
    return static_cast<int>(std::find(ids.begin(), ids.end(), product) - ids.begin());
  };
  const std::vector<int> a5 = even(s5), a4 = even(s4);
  EXPECT_THAT(std::vector<int>(a5.begin(), a5.begin() + 15),
              testing::ElementsAre(0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23, 25, 26, 29));
  CheckWords({{"group", "A5"}}, 60, [&](int a, int b) { return within(a5, s5, a, b); });
  CheckWords({{"group", "A4xZ5"}}, 60, [&](int a, int b) { return within(a4, s4, a / 5, b / 5) * 5 + (a + b) % 5; });

  // The symmetries of the square, by generators: those permutations of 4 points that keep 0 opposite 2.
  std::vector<int> square;
  for (size_t id = 0; id < s4.elements.size(); ++id) {
    if (std::abs(s4.elements[id][0] - s4.elements[id][2]) == 2) square.push_back(static_cast<int>(id));
  }
  ASSERT_EQ(square.size(), 8u);
  CheckWords({{"group", "D4"}}, 8, [&](int a, int b) { return within(square, s4, a, b); });
  CheckWords({{"group", "(0 1 2 3), (0 2)"}}, 8, [&](int a, int b) { return within(square, s4, a, b); });
}

std::set<int32_t> Drawn(const nlohmann::json& parameters) {
  const auto task = MakeTask("group", parameters);
  const Example example = ReadExample(*task, 3000, Rng(5, 0));
  return {example.tokens.begin() + 1, example.tokens.end()};
}

TEST(GroupWords, Restrictions) {
  EXPECT_THAT(Drawn({{"max_moved", 2}}), testing::ElementsAre(0, 1, 2, 5, 6, 14, 21, 24, 54, 80, 105));
  EXPECT_THAT(Drawn({{"max_moved", 3}}),
              testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 8, 11, 12, 14, 15, 19, 20, 21, 24, 30, 38, 45, 48, 54, 56, 59,
                                   74, 78, 80, 81, 99, 103, 104, 105));
  EXPECT_EQ(Drawn({{"max_moved", 4}}).size(), 76u);
  EXPECT_THAT(Drawn({{"group", "(0 1 2 3 4), (0 1)"}, {"inputs", "generators"}}), testing::SizeIs(2));
  const auto swaps = MakeTask("group", {{"max_moved", 2}});
  EXPECT_EQ(swaps->vocab_size(), 127) << "targets are all of the group";
  const auto targets = ReadExample(*swaps, 3000, Rng(5, 0)).targets;
  EXPECT_EQ(std::set<int32_t>(targets.begin() + 1, targets.end()).size(), 120u);
}

TEST(GroupWords, SeveralTokensPerElement) {
  const Symmetric s5(5);
  const auto task = MakeTask("group", {{"tokens", 4}});
  EXPECT_EQ(task->vocab_size(), 128);
  const auto [tokens, targets] = ReadExample(*task, 62, Rng(1, 1));
  ASSERT_EQ(tokens.size(), 63u);
  EXPECT_EQ(tokens[0], 122);
  EXPECT_EQ(targets[0], 122);
  std::vector<int> products = {0};
  for (int t = 0; t < 62; ++t) {
    const int32_t token = tokens[1 + t];
    if (t % 4 == 0) {
      products.push_back(s5.Multiply(products.back(), token));
    } else {
      EXPECT_EQ(token, 120);
    }
    // Positions 0 .. 2 are the identity, 3 .. 6 the first product, 7 .. 10 the second.
    EXPECT_EQ(targets[1 + t], t < 3 ? 0 : products[1 + (t - 3) / 4]) << t;
  }
}

TEST(GroupWords, WithoutBos) {
  const auto task = MakeTask("group", {{"group", "Z60"}, {"tokens", 2}, {"bos", false}});
  EXPECT_EQ(task->vocab_size(), 61);
  const auto [tokens, targets] = ReadExample(*task, 64, Rng(1, 1));
  ASSERT_EQ(tokens.size(), 64u);
  int sum = 0;
  for (int t = 0; t < 64; t += 2) {
    EXPECT_EQ(targets[t], sum);
    sum = (sum + tokens[t]) % 60;
    EXPECT_EQ(tokens[t + 1], 60);
    EXPECT_EQ(targets[t + 1], sum);
  }
}

TEST(GroupWords, Symbols) {
  const auto s3 = MakeTask("group", {{"group", "S3"}})->symbols();
  EXPECT_THAT(s3, testing::ElementsAre("()", "(1,2)", "(0,1)", "(0,1,2)", "(0,2,1)", "(0,2)", "<pad>", "<bos>", "<unk>",
                                       "<eos>", "<sep>", "<cls>", "<mask>"));
  EXPECT_EQ(MakeTask("group", {{"group", "Z5"}})->symbols()[3], "3");
  EXPECT_EQ(MakeTask("group", {{"group", "S5"}, {"tokens", 4}})->symbols()[120], "_");
}

TEST(GroupWords, Errors) {
  const auto message = [](const nlohmann::json& parameters) {
    return MessageOf([&] { MakeTask("group", parameters); });
  };
  EXPECT_NE(message({{"group", "X5"}}), "");
  EXPECT_EQ(message({{"group", "S1"}}), "task \"group\": group: expected a group of at least two elements, got \"S1\"");
  EXPECT_EQ(message({{"group", "Z7"}, {"max_moved", 2}}),
            "task \"group\": max_moved: expected a limit that at least two inputs keep, got 2");
  EXPECT_EQ(message({{"tokens", 0}}), "task \"group\": tokens: expected an integer from 1 to 1024, got 0");
  EXPECT_EQ(message({{"inputs", "some"}}), "task \"group\": inputs: expected \"all\" or \"generators\", got \"some\"");
}

}  // namespace
}  // namespace lrnn
