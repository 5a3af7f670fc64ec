#include "lrnn/runtime/diagonal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_diagonal.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations.
class ReferenceDiagonal {
 public:
  ReferenceDiagonal(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix), h_(9) {}

  Row Step(const Row& x) {
    const Row z = model_.Linear(prefix_ + ".a_proj", x), b = model_.Linear(prefix_ + ".b_proj", x);
    for (size_t i = 0; i < h_.size(); ++i) {
      const double a = model_.config["allow_neg_eigval"] ? std::tanh(10 * z[i]) : Sigmoid(10 * z[i]);
      h_[i] = a * h_[i] + b[i] * x[i];
    }
    return h_;
  }

 private:
  const TestModel& model_;
  std::string prefix_;
  Row h_;
};

TEST(RuntimeDiagonal, EqualsTheEquations) {
  const std::vector<int32_t> tokens = RandomTokens(50, 7);
  for (bool allow_neg_eigval : {false, true}) {
    for (bool use_final_norm : {false, true}) {
      const TestModel model =
          TestDiagonal({{"allow_neg_eigval", allow_neg_eigval}, {"use_final_norm", use_final_norm}});
      ExpectLogits(model, tokens, SimpleReferenceLogits<ReferenceDiagonal>(model, tokens));
    }
  }
}

TEST(RuntimeDiagonal, StateSizeIsThatOfH) {
  TestDirectory directory;
  TestDiagonal().Write(directory.path());
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), 2 * 9 * sizeof(float));
}

}  // namespace
}  // namespace lrnn
