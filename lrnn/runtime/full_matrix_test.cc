#include "lrnn/runtime/full_matrix.h"

#include <gtest/gtest.h>

#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_full_matrix.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations.
class ReferenceFullMatrix {
 public:
  ReferenceFullMatrix(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix), h_(9) {}

  Row Step(const Row& x) {
    const Row A = model_.Linear(prefix_ + ".a_proj", x), B = model_.Linear(prefix_ + ".b_proj", x);
    Row next(9);
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j < 9; ++j) next[i] += (A[i * 9 + j] * h_[j] + B[i * 9 + j] * x[j]) / 3;
    }
    return h_ = next;
  }

 private:
  const TestModel& model_;
  std::string prefix_;
  Row h_;
};

TEST(RuntimeFullMatrix, EqualsTheEquations) {
  const std::vector<int32_t> tokens = RandomTokens(50, 7);
  const TestModel model = TestFullMatrix();
  ExpectLogits(model, tokens, SimpleReferenceLogits<ReferenceFullMatrix>(model, tokens));
}

TEST(RuntimeFullMatrix, StateSizeIsThatOfH) {
  TestDirectory directory;
  TestFullMatrix().Write(directory.path());
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), 2 * 9 * sizeof(float));
}

}  // namespace
}  // namespace lrnn
