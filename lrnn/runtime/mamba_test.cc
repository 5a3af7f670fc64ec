#include "lrnn/runtime/mamba.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_model.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations.
class ReferenceMamba {
 public:
  ReferenceMamba(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const int64_t I = 27, N = 5, R = model_.tensors.at(prefix_ + ".dt_proj.weight").shape[1];
    const Row uz = model_.Linear(prefix_ + ".in_proj", x);
    inputs_.emplace_back(uz.begin(), uz.begin() + I);
    Row u = model_.Conv(prefix_ + ".conv1d", inputs_);
    for (double& value : u) value = Silu(value);
    const Row low = model_.Linear(prefix_ + ".x_proj", u);
    const Row dt = model_.Linear(prefix_ + ".dt_proj", Row(low.begin(), low.begin() + R));
    h_.resize(I * N);
    Row y(I);
    for (int64_t i = 0; i < I; ++i) {
      const double step = std::log1p(std::exp(dt[i]));
      y[i] = model_[prefix_ + ".D"][i] * u[i];
      for (int64_t n = 0; n < N; ++n) {
        const double decay = std::exp(-step * std::exp(double{model_[prefix_ + ".A_log"][i * N + n]}));
        const double a = model_.config["allow_neg_eigval"] ? 2 * decay - 1 : decay;
        h_[i * N + n] = a * h_[i * N + n] + step * low[R + n] * u[i];
        y[i] += low[R + N + n] * h_[i * N + n];
      }
      y[i] *= Silu(uz[I + i]);
    }
    return model_.Linear(prefix_ + ".out_proj", y);
  }

 private:
  const TestModel& model_;
  std::string prefix_;
  std::vector<Row> inputs_;
  Row h_;
};

constexpr auto ReferenceLogits = MambaReferenceLogits<ReferenceMamba>;

void ExpectReferenceLogits(const TestModel& model) {
  const std::vector<int32_t> tokens = RandomTokens(50, 7);
  ExpectLogits(model, tokens, ReferenceLogits(model, tokens));
}

TEST(RuntimeMamba, EqualsTheEquations) {
  for (bool allow_neg_eigval : {false, true}) {
    for (bool use_final_norm : {false, true}) {
      SCOPED_TRACE(fmt::format("allow_neg_eigval {}, final norm {}", allow_neg_eigval, use_final_norm));
      ExpectReferenceLogits(TestMamba({{"allow_neg_eigval", allow_neg_eigval}, {"use_final_norm", use_final_norm}}));
    }
  }
}

TEST(RuntimeMamba, OtherForms) {
  ExpectReferenceLogits(TestMamba({{"conv_kernel", 1}}));  // the paper's models of formal languages
  ExpectReferenceLogits(TestMamba({{"conv_kernel", 6}, {"use_conv_bias", false}, {"num_hidden_layers", 1}}));
  ExpectReferenceLogits(TestMamba({{"use_bias", true}}));
  ExpectReferenceLogits(TestMamba({{"tie_word_embeddings", true}}));
  ExpectReferenceLogits(TestMamba({{"time_step_rank", "auto"}}));
}

TEST(RuntimeMamba, StateSizeIsThatOfConvolutionAndH) {
  TestDirectory directory;
  TestMamba().Write(directory.path());
  const int64_t floats = 2 * (2 * 27 + 27 * 5);
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), floats * sizeof(float));
}

TEST(RuntimeMamba, RefusesWhatItCannotRun) {
  TestDirectory directory;
  const std::string place = (directory / "config.json").string() + ": field ";
  const auto message = [&](const char* name, const nlohmann::json& value) {
    TestModel model = TestMamba();
    model.config[name] = value;
    model.Write(directory.path());
    return MessageOf([&] { RuntimeModel::Load(directory.path()); });
  };
  EXPECT_EQ(message("time_step_rank", "none"),
            place + R"("time_step_rank": expected a positive integer or "auto", got "none")");
  EXPECT_EQ(message("time_step_rank", -1), place + R"("time_step_rank": expected a positive integer, got -1)");
  EXPECT_EQ(message("expand", -2), place + R"("expand": expected a number that makes the width at least 1, got -2)");
  EXPECT_EQ(message("expand", 1e300),
            place + R"("expand": expected a number that makes the width at least 1, got 1e+300)");
  EXPECT_EQ(message("hidden_act", "gelu"), place + R"("hidden_act": expected "silu", got "gelu")");
  EXPECT_EQ(message("state_size", 0), place + R"("state_size": expected a positive integer, got 0)");
  EXPECT_EQ(message("hidden_size", nullptr), place + R"("hidden_size" is missing)");
}

}  // namespace
}  // namespace lrnn
