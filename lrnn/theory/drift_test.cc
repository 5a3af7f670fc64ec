#include "lrnn/theory/drift.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace lrnn {
namespace {

TEST(Drift, ExactKeysHaveNoneAndRoundedOnesDo) {
  std::map<std::string, Drift> found;
  MeasureDrift(3000, 1, [&](const Drift& drift) {
    found[drift.representation + ", " + drift.word + ", " + drift.arithmetic] = drift;
    EXPECT_GT(drift.limit, 0.0);
    EXPECT_EQ(drift.tokens, drift.wrong_at < 0 ? 3000 : drift.wrong_at);
  });
  EXPECT_EQ(found.size(), 3 * (5 * 2 + 2 * 3 + 1));
  for (const auto& [name, drift] : found) {
    if (name.find("keys exact") != std::string::npos || name.find("keys dup") != std::string::npos) {
      EXPECT_EQ(drift.wrong_at, -1) << name;
      EXPECT_EQ(drift.error, 0.0) << name;
    }
    if (drift.arithmetic == "fp32") {
      EXPECT_EQ(drift.wrong_at, -1) << name;
      EXPECT_LT(drift.error, 0.1 * drift.limit) << name;
    }
  }
  // Rotations by small angles fail soon in bf16.
  int failed = 0;
  for (const char* group : {"Z_60", "Z_360"}) {
    for (const char* word : {"one letter", "random letters"}) {
      for (const char* arithmetic : {"bf16 keys", "bf16"}) {
        failed += found.at(fmt::format("{} rotation, {}, {}", group, word, arithmetic)).wrong_at > 0;
      }
    }
  }
  EXPECT_GE(failed, 4);
  EXPECT_GT(found.at("A_5 in space, random letters, fp32").error, 0.0);
}

}  // namespace
}  // namespace lrnn
