#include "lrnn/automata/groups.h"

#include <gtest/gtest.h>

#include "lrnn/automata/finite_group.h"
#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

TEST(Groups, NamesHaveTheOrdersOfTheBooks) {
  const struct {
    const char* name;
    int degree;
    int order;
  } kGroups[] = {
      {"S1", 1, 1},
      {"S2", 2, 2},
      {"S3", 3, 6},
      {"S4", 4, 24},
      {"S5", 5, 120},
      {"S6", 6, 720},
      {"A1", 1, 1},
      {"A2", 2, 1},
      {"A3", 3, 3},
      {"A4", 4, 12},
      {"A5", 5, 60},
      {"A6", 6, 360},
      {"A7", 7, 2520},
      {"Z1", 1, 1},
      {"Z60", 60, 60},
      {"C7", 7, 7},
      {"D3", 3, 6},
      {"D4", 4, 8},
      {"D7", 7, 14},
      {"Q8", 8, 8},
      {"Q12", 12, 12},
      {"Q16", 16, 16},
      {"PSL(2,2)", 3, 6},
      {"PSL(2,3)", 4, 12},
      {"PSL(2,5)", 6, 60},
      {"PSL(2,7)", 8, 168},
      {"PSL(2,11)", 12, 660},
      {"A4xZ5", 9, 60},
      {"A4_x_Z5", 9, 60},
      {"Z2 x Z3\u00D7S3", 8, 36},
      {"Z2xZ2xZ2", 6, 8},
      {"(0 1 2)(3 4), (0 1)", 5, 12},
      {"(0,1,2,3,4),(0,1)", 5, 120},
      {"()", 1, 1},
      {"()(2), (0 1)", 3, 2},
  };
  for (const auto& [name, degree, order] : kGroups) {
    const PermutationGroup group = ParseGroup(name);
    EXPECT_EQ(group.degree, degree) << name;
    EXPECT_EQ(FiniteGroup(group).order(), order) << name;
  }
}

TEST(Groups, GeneratorsAreDifferentAndTheIdentityOnlyWhenAlone) {
  EXPECT_EQ(ParseGroup("S2").generators, (std::vector<Permutation>{{1, 0}}));
  EXPECT_EQ(ParseGroup("A3").generators, (std::vector<Permutation>{{1, 2, 0}}));
  EXPECT_EQ(ParseGroup("Z1xZ2").generators, (std::vector<Permutation>{{0, 2, 1}}));
  EXPECT_EQ(ParseGroup("Z1").generators, (std::vector<Permutation>{{0}}));
  EXPECT_EQ(ParseGroup("(0 1), (1 0), ()").generators, (std::vector<Permutation>{{1, 0}}));
}

TEST(Groups, Names) {
  EXPECT_EQ(ParseGroup(" A4_x_Z5 ").name, "A4xZ5");
  EXPECT_EQ(ParseGroup("PSL(2,7)").name, "PSL(2,7)");
  EXPECT_EQ(ParseGroup("(0 1 2)(3 4), (0 1)").name, "<(0,1,2)(3,4),(0,1)>");
}

// The quaternion group has one element of order two, the dihedral group of the same order five.
TEST(Groups, QuaternionsAreNotDihedral) {
  const auto involutions = [](const char* name) {
    const FiniteGroup group(ParseGroup(name));
    int count = 0;
    for (int a = 1; a < group.order(); ++a) count += group.Multiply(a, a) == 0;
    return count;
  };
  EXPECT_EQ(involutions("Q8"), 1);
  EXPECT_EQ(involutions("D4"), 5);
  EXPECT_EQ(involutions("Q16"), 1);
}

TEST(Groups, ErrorsShowThePlace) {
  const auto message = [](const std::string& text) { return MessageOf([&] { ParseGroup(text); }); };
  const std::string names =
      "expected S5, A5, Z60, D7, Q8, PSL(2,7), a product such as A4xZ5, or generators (0 1 2)(3 4), (0 1)";
  EXPECT_EQ(message(""), "group:1:1: " + names + "\n  \n  ^");
  EXPECT_EQ(message("M11"), "group:1:1: " + names + "\n  M11\n  ^");
  EXPECT_EQ(message("S3xSx"), "group:1:4: " + names + "\n  S3xSx\n     ^");
  EXPECT_EQ(message("S3+Z2"), "group:1:3: expected 'x' and another group, or the end\n  S3+Z2\n    ^");
  EXPECT_EQ(message("S0"), "group:1:2: expected Sn with n at least 1, got 0\n  S0\n   ^");
  EXPECT_EQ(message("D2"), "group:1:2: expected Dn with n at least 3, got 2\n  D2\n   ^");
  EXPECT_EQ(message("Q10"), "group:1:2: expected Qn with n at least 8 and divisible by 4, got 10\n  Q10\n   ^");
  EXPECT_EQ(message("PSL(2,8)"), "group:1:7: expected a prime, got 8\n  PSL(2,8)\n        ^");
  EXPECT_EQ(message("PSL(2,7"), "group:1:8: expected ')'\n  PSL(2,7\n         ^");
  EXPECT_EQ(message("PSL(2,)"), "group:1:7: expected a number\n  PSL(2,)\n        ^");
  EXPECT_EQ(message("Z99999999999"),
            "group:1:2: this number is too large: groups act on at most 4096 points\n  Z99999999999\n   ^");
  EXPECT_EQ(message("Z5000"), "group:1:1: the group acts on 5000 points, expected at most 4096\n  Z5000\n  ^");
  EXPECT_EQ(message("Z4000xZ97"),
            "group:1:7: the product acts on 4097 points, expected at most 4096\n  Z4000xZ97\n        ^");
  EXPECT_EQ(message("(0 1"), "group:1:5: expected ')' before the end\n  (0 1\n      ^");
  EXPECT_EQ(message("(0 a)"), "group:1:4: expected a number\n  (0 a)\n     ^");
  EXPECT_EQ(message("(0 1)(2 0)"), "group:1:9: point 0 occurs twice\n  (0 1)(2 0)\n          ^");
  EXPECT_EQ(message("(0 4096)"), "group:1:4: expected points below 4096, got 4096\n  (0 4096)\n     ^");
  EXPECT_EQ(message("(0 1),"), "group:1:7: expected '('\n  (0 1),\n        ^");
  EXPECT_EQ(message("(0 1)x"),
            "group:1:6: expected a cycle such as (0 1), ',' and another generator, or the end\n  (0 1)x\n       ^");
  std::string many = "()";
  for (int i = 0; i < 1000; ++i) many += ",()";
  EXPECT_TRUE(message(many).starts_with("group:1:3001: expected at most 1000 generators\n")) << message(many);
}

TEST(Groups, TenMegabytesFailFast) {
  std::string product = "Z1";
  while (product.size() < 10'000'000) product += "xS9";
  EXPECT_NE(MessageOf([&] { ParseGroup(product); }).find("the product acts on 4105 points"), std::string::npos);
  EXPECT_NE(MessageOf([&] { ParseGroup(std::string(10'000'000, '(')); }).find("expected a number"), std::string::npos);
}

}  // namespace
}  // namespace lrnn
