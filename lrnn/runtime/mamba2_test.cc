#include "lrnn/runtime/mamba2.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_mamba2.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations.
class ReferenceMamba2 {
 public:
  ReferenceMamba2(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const int64_t I = 18, N = 5, H = model_.config["num_heads"], G = model_.config["n_groups"], P = I / H;
    const int64_t convolved = I + 2 * G * N;
    const Row projected = model_.Linear(prefix_ + ".in_proj", x);
    inputs_.emplace_back(projected.begin() + I, projected.begin() + I + convolved);
    Row u = model_.Conv(prefix_ + ".conv1d", inputs_);
    for (double& value : u) value = Silu(value);
    S_.resize(I * N);
    Row o(I);
    for (int64_t i = 0; i < I; ++i) {
      const int64_t h = i / P, group = h / (H / G);
      const double dt = std::log1p(std::exp(projected[I + convolved + h] + model_[prefix_ + ".dt_bias"][h]));
      const double decay = std::exp(-dt * std::exp(double{model_[prefix_ + ".A_log"][h]}));
      const double a = model_.config["allow_neg_eigval"] ? 2 * decay - 1 : decay;
      o[i] = model_[prefix_ + ".D"][h] * u[i];
      for (int64_t n = 0; n < N; ++n) {
        double& state = S_[i * N + n];
        state = a * state + u[I + group * N + n] * dt * u[i];
        o[i] += u[I + (G + group) * N + n] * state;
      }
      o[i] *= Silu(projected[i]);
    }
    const int64_t width = I / G;  // of the norm
    for (int64_t begin = 0; begin < I; begin += width) {
      double squares = 0;
      for (int64_t i = begin; i < begin + width; ++i) squares += o[i] * o[i];
      const double eps = model_.config["layer_norm_epsilon"];
      for (int64_t i = begin; i < begin + width; ++i) {
        o[i] *= model_[prefix_ + ".norm.weight"][i] / std::sqrt(squares / static_cast<double>(width) + eps);
      }
    }
    return model_.Linear(prefix_ + ".out_proj", o);
  }

 private:
  const TestModel& model_;
  std::string prefix_;
  std::vector<Row> inputs_;
  Row S_;
};

void ExpectReferenceLogits(const TestModel& model) {
  const std::vector<int32_t> tokens = RandomTokens(50, 7);
  ExpectLogits(model, tokens, MambaReferenceLogits<ReferenceMamba2>(model, tokens));
}

TEST(RuntimeMamba2, EqualsTheEquations) {
  for (bool allow_neg_eigval : {false, true}) {
    for (int groups : {1, 2, 6}) {
      SCOPED_TRACE(fmt::format("allow_neg_eigval {}, {} groups", allow_neg_eigval, groups));
      ExpectReferenceLogits(TestMamba2({{"allow_neg_eigval", allow_neg_eigval}, {"n_groups", groups}}));
    }
  }
}

TEST(RuntimeMamba2, OtherForms) {
  ExpectReferenceLogits(TestMamba2({{"conv_kernel", 1}}));
  ExpectReferenceLogits(TestMamba2({{"conv_kernel", 6}, {"use_conv_bias", false}, {"num_hidden_layers", 1}}));
  ExpectReferenceLogits(TestMamba2({{"use_bias", true}}));
  ExpectReferenceLogits(TestMamba2({{"tie_word_embeddings", true}, {"use_final_norm", false}}));
  ExpectReferenceLogits(TestMamba2({{"head_dim", 9}, {"num_heads", 2}}));
}

TEST(RuntimeMamba2, StateSizeIsThatOfConvolutionAndS) {
  TestDirectory directory;
  TestMamba2().Write(directory.path());
  const int64_t floats = 2 * (2 * (18 + 20) + 18 * 5);
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), floats * sizeof(float));
}

TEST(RuntimeMamba2, RefusesWhatItCannotRun) {
  TestDirectory directory;
  TestModel model = TestMamba2();
  model.config["num_heads"] = 5;
  model.Write(directory.path());
  EXPECT_EQ(MessageOf([&] { RuntimeModel::Load(directory.path()); }),
            (directory / "config.json").string() +
                R"(: field "num_heads": expected a divisor of 18 (hidden_size times expand), got 5)");
}

}  // namespace
}  // namespace lrnn
