#include "lrnn/compile/certify_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/runtime/largest_logit.h"
#include "lrnn/runtime/test_parity_model.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using End = ModelCertificate::End;

class CertifyModelTest : public testing::Test {
 protected:
  RuntimeModel Load(const TestModel& model) {
    model.Write(directory_.path());
    return RuntimeModel::Load(directory_.path());
  }

  TestDirectory directory_;
};

TEST_F(CertifyModelTest, AnExactModelIsProved) {
  const ModelCertificate certificate = CertifyModel(Load(ParityModel()), ParityTruth());
  EXPECT_TRUE(certificate.proved());
  EXPECT_EQ(certificate.nodes, 2);
  EXPECT_EQ(certificate.steps, 4);
  EXPECT_GT(certificate.margin, 0.5);
}

TEST_F(CertifyModelTest, ADriftingModelIsRightOnShortWordsOnly) {
  // Eigenvalue 1 - 2 sigmoid(8) = -0.9993.
  const RuntimeModel model = Load(ParityModel(8));
  const ModelCertificate bounded = CertifyModel(model, ParityTruth(), {.max_nodes = 50});
  EXPECT_EQ(bounded.end, End::kBudget);
  EXPECT_EQ(bounded.nodes, 51);
  EXPECT_EQ(bounded.depth, 49);

  const ModelCertificate wrong = CertifyModel(model, ParityTruth());
  ASSERT_EQ(wrong.end, End::kWrong);
  EXPECT_EQ(static_cast<int64_t>(wrong.word.size()), wrong.depth + 1);
  EXPECT_GT(wrong.depth, 100);
  // The word is wrong, and no shorter one of ones is: the zeros change nothing.
  const auto session = model.NewSession();
  for (size_t i = 0; i < wrong.word.size(); ++i) {
    ASSERT_EQ(wrong.word[i], 1);
    const int32_t answer = LargestLogit(session->Step(2));
    const bool is_last = i + 1 == wrong.word.size();
    ASSERT_EQ(answer == (i % 2 == 0 ? 2 : 1), !is_last) << i;
    if (is_last) {
      EXPECT_EQ(answer, wrong.answer);
    }
  }
}

TEST_F(CertifyModelTest, TheBudgetInBytes) {
  const RuntimeModel model = Load(ParityModel(8));
  const int64_t bytes_per_state = 16 * sizeof(float);
  EXPECT_EQ(CertifyModel(model, ParityTruth(), {.max_bytes = 10 * bytes_per_state}).nodes, 11);
}

TEST_F(CertifyModelTest, PlantedFaults) {
  TestModel sign = ParityModel();  // the letter 0 flips too
  sign.tensors["model.layers.0.attn.b_proj.weight"].values[1] = 100;
  sign.tensors["model.layers.0.attn.v_proj.weight"].values[1] = 1;
  EXPECT_THAT(CertifyModel(Load(sign), ParityTruth()).word, ElementsAre(0));

  TestModel key = ParityModel();  // the key of the letter 1 is elsewhere than where q reads
  key.tensors["model.layers.0.attn.k_proj.weight"].values[2] = 0;
  key.tensors["model.layers.0.attn.k_proj.weight"].values[6] = 64;
  EXPECT_THAT(CertifyModel(Load(key), ParityTruth()).word, ElementsAre(1));

  TokenAutomaton other = ParityTruth();  // the number of ones modulo 4 is 1 or 2
  other.dfa = {4, {"0", "1"}, {{0, 1, 2, 3}, {1, 2, 3, 0}}, 0, {false, true, true, false}};
  other.answers = {1, 2, 2, 1};
  const ModelCertificate wrong = CertifyModel(Load(ParityModel()), other);
  EXPECT_THAT(wrong.word, ElementsAre(1, 1));
  EXPECT_EQ(wrong.answer, 1);
  EXPECT_EQ(wrong.expected, 2);
  EXPECT_EQ(wrong.depth, 1);
}

TEST_F(CertifyModelTest, OpeningTokensAreReadFirst) {
  TokenAutomaton truth = ParityTruth();
  truth.opening = {2};
  truth.answers = {2, 1};
  EXPECT_TRUE(CertifyModel(Load(ParityModel()), truth).proved());
}

TEST_F(CertifyModelTest, TokensOutsideTheVocabulary) {
  TokenAutomaton truth = ParityTruth();
  truth.answers[1] = 3;
  const RuntimeModel model = Load(ParityModel());
  EXPECT_THAT(MessageOf([&] { CertifyModel(model, truth); }), HasSubstr("[certify] expected tokens in 0 .. 2"));
}

}  // namespace
}  // namespace lrnn
