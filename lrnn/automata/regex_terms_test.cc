#include "lrnn/automata/regex_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lrnn {
namespace {

using testing::ElementsAre;

class RegexTermsTest : public testing::Test {
 protected:
  RegexTerms terms_{2};
  const RegexTerms::Id a_ = terms_.Letters({0});
  const RegexTerms::Id b_ = terms_.Letters({1});
  const RegexTerms::Id any_ = terms_.Letters({0, 1});
};

TEST_F(RegexTermsTest, EqualTermsHaveEqualNumbers) {
  constexpr auto kNothing = RegexTerms::kNothing;
  constexpr auto kEmptyWord = RegexTerms::kEmptyWord;
  constexpr auto kAnything = RegexTerms::kAnything;
  const auto star = [this](RegexTerms::Id term) { return terms_.Repeat(term, 0, RegexTerms::kNoLimit); };
  const auto ab = terms_.Sequence(a_, b_);
  const auto ba = terms_.Sequence(b_, a_);

  EXPECT_EQ(terms_.Letters({}), kNothing);
  EXPECT_EQ(star(any_), kAnything);
  EXPECT_EQ(terms_.Union({a_, b_}), any_);
  EXPECT_EQ(terms_.Union({ab, ba, ab}), terms_.Union({ba, ab}));
  EXPECT_EQ(terms_.Union({ab, terms_.Union({ba, a_})}), terms_.Union({terms_.Union({a_, ab}), ba}));
  EXPECT_EQ(terms_.Union({}), kNothing);
  EXPECT_EQ(terms_.Union({ab, kNothing}), ab);
  EXPECT_EQ(terms_.Union({ab, kAnything}), kAnything);
  EXPECT_EQ(terms_.Union({kEmptyWord, star(a_)}), star(a_));
  EXPECT_EQ(terms_.Intersection({ab, kAnything}), ab);
  EXPECT_EQ(terms_.Intersection({ab, kNothing}), kNothing);
  EXPECT_EQ(terms_.Intersection({}), kAnything);
  EXPECT_EQ(terms_.Intersection({kEmptyWord, ab}), kNothing);
  EXPECT_EQ(terms_.Intersection({star(ab), kEmptyWord}), kEmptyWord);
  EXPECT_EQ(terms_.Complement(terms_.Complement(ab)), ab);
  EXPECT_EQ(terms_.Complement(kNothing), kAnything);
  EXPECT_EQ(terms_.Complement(kAnything), kNothing);
  EXPECT_EQ(terms_.Sequence(ab, b_), terms_.Sequence(a_, terms_.Sequence(b_, b_)));
  EXPECT_EQ(terms_.Sequence(ab, kNothing), kNothing);
  EXPECT_EQ(terms_.Sequence(kNothing, ab), kNothing);
  EXPECT_EQ(terms_.Sequence(kEmptyWord, ab), ab);
  EXPECT_EQ(terms_.Sequence(ab, kEmptyWord), ab);
  EXPECT_EQ(terms_.Sequence(star(a_), kAnything), kAnything);
  EXPECT_EQ(terms_.Sequence(kAnything, star(a_)), kAnything);
  EXPECT_EQ(star(star(ab)), star(ab));
  EXPECT_EQ(star(terms_.Repeat(ab, 0, 1)), star(ab));
  EXPECT_EQ(star(terms_.Repeat(ab, 1, RegexTerms::kNoLimit)), star(ab));
  EXPECT_NE(star(terms_.Repeat(ab, 2, RegexTerms::kNoLimit)), star(ab));
  EXPECT_EQ(terms_.Repeat(ab, 1, 1), ab);
  EXPECT_EQ(terms_.Repeat(ab, 0, 0), kEmptyWord);
  EXPECT_EQ(terms_.Repeat(kNothing, 0, 3), kEmptyWord);
  EXPECT_EQ(terms_.Repeat(kNothing, 2, 3), kNothing);
  EXPECT_EQ(terms_.Repeat(kEmptyWord, 2, 3), kEmptyWord);
}

TEST_F(RegexTermsTest, DerivativesAreWhatMayFollow) {
  const auto ab = terms_.Sequence(a_, b_);
  EXPECT_THAT(terms_.Derivatives(ab), ElementsAre(b_, RegexTerms::kNothing));
  EXPECT_THAT(terms_.Derivatives(terms_.Complement(ab)), ElementsAre(terms_.Complement(b_), RegexTerms::kAnything));
  const auto abs = terms_.Repeat(ab, 0, RegexTerms::kNoLimit);
  EXPECT_THAT(terms_.Derivatives(abs), ElementsAre(terms_.Sequence(b_, abs), RegexTerms::kNothing));
  EXPECT_THAT(terms_.Derivatives(RegexTerms::kAnything), ElementsAre(RegexTerms::kAnything, RegexTerms::kAnything));
  EXPECT_THAT(terms_.Derivatives(terms_.Repeat(a_, 2, 3)), ElementsAre(terms_.Repeat(a_, 1, 2), RegexTerms::kNothing));
}

}  // namespace
}  // namespace lrnn
