#include "lrnn/runtime/gla.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_gla.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations.
class ReferenceGla {
 public:
  ReferenceGla(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const auto& config = model_.config;
    const int H = 3, K = 2, V = 7;
    const Row q = Input("q", x, inputs_[0]), k = Input("k", x, inputs_[1]), v = Input("v", x, inputs_[2]);
    const Row z = model_.Linear(prefix_ + ".gk_proj.1", model_.Linear(prefix_ + ".gk_proj.0", x));
    const bool gated = config["use_output_gate"];
    const Row gate = gated ? model_.Linear(prefix_ + ".g_proj", x) : Row(H * V);
    const bool fused = gated && config["fuse_norm"];
    S_.resize(H * K * V);
    Row heads;
    for (int h = 0; h < H; ++h) {
      Row o(V);
      for (int i = 0; i < K; ++i) {
        const double s = std::pow(Sigmoid(z[h * K + i]), 1 / config["gate_logit_normalizer"].get<double>());
        const double a = config["allow_neg_eigval"] ? 2 * s - 1 : s;
        for (int j = 0; j < V; ++j) {
          double& state = S_[(h * K + i) * V + j];
          state = a * state + k[h * K + i] * v[h * V + j];
          o[j] += state * q[h * K + i] / std::sqrt(K);
        }
      }
      Row normed = model_.Norm(prefix_ + (fused ? ".g_norm_swish_gate" : ".g_norm"), o, config["norm_eps"]);
      for (int j = 0; j < V && gated; ++j) normed[j] *= Silu(gate[h * V + j]);
      heads.insert(heads.end(), normed.begin(), normed.end());
    }
    return model_.Linear(prefix_ + ".o_proj", heads);
  }

 private:
  Row Input(const std::string& name, const Row& x, std::vector<Row>& inputs) {
    inputs.push_back(model_.Linear(prefix_ + "." + name + "_proj", x));
    if (!model_.config["use_short_conv"]) return inputs.back();
    Row y = model_.Conv(prefix_ + "." + name + "_conv1d", inputs);
    for (double& value : y) value = Silu(value);
    return y;
  }

  const TestModel& model_;
  std::string prefix_;
  std::vector<Row> inputs_[3];
  Row S_;
};

void ExpectReferenceLogits(const TestModel& model) {
  const std::vector<int32_t> tokens = RandomTokens(50, 11);
  ExpectLogits(model, tokens, FlaReferenceLogits<ReferenceGla>(model, tokens));
}

TEST(RuntimeGla, EqualsTheEquations) {
  for (bool allow_neg_eigval : {false, true}) {
    for (bool use_short_conv : {false, true}) {
      for (bool use_output_gate : {false, true}) {
        SCOPED_TRACE(
            fmt::format("allow_neg_eigval {}, conv {}, gate {}", allow_neg_eigval, use_short_conv, use_output_gate));
        ExpectReferenceLogits(TestGla({{"allow_neg_eigval", allow_neg_eigval},
                                       {"use_short_conv", use_short_conv},
                                       {"use_output_gate", use_output_gate}}));
      }
    }
  }
}

TEST(RuntimeGla, OtherForms) {
  ExpectReferenceLogits(TestGla({{"use_short_conv", true}, {"conv_size", 1}}));
  ExpectReferenceLogits(TestGla({{"fuse_norm", false}}));
  ExpectReferenceLogits(TestGla({{"gate_logit_normalizer", 16}, {"num_hidden_layers", 1}}));
  ExpectReferenceLogits(TestGla({{"tie_word_embeddings", true}, {"use_final_norm", false}}));
}

TEST(RuntimeGla, StateSizeIsThatOfConvolutionsAndS) {
  TestDirectory directory;
  TestGla({{"use_short_conv", true}}).Write(directory.path());
  const int64_t floats = 2 * (3 * (6 + 6 + 21) + 3 * 2 * 7);
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), floats * sizeof(float));
}

TEST(RuntimeGla, RefusesWhatItCannotRun) {
  TestDirectory directory;
  const std::string place = (directory / "config.json").string() + ": field ";
  const auto message = [&](const char* name, const nlohmann::json& value) {
    TestModel model = TestGla();
    model.config[name] = value;
    model.Write(directory.path());
    return MessageOf([&] { RuntimeModel::Load(directory.path()); });
  };
  EXPECT_EQ(message("num_kv_heads", 1), place + R"("num_kv_heads": expected num_heads or null, got 1)");
  EXPECT_EQ(message("feature_map", "relu"), place + R"("feature_map": expected null, got "relu")");
  EXPECT_EQ(message("clamp_min", -3), place + R"("clamp_min": expected null, got -3)");
  EXPECT_EQ(message("gate_logit_normalizer", -1),
            place + R"("gate_logit_normalizer": expected a positive number, got -1)");
  EXPECT_EQ(message("attn", {{"layers", {0}}}),
            place + R"("attn": expected null (no attention layers), got {"layers":[0]})");
  EXPECT_EQ(message("num_heads", 4),
            place + R"("num_heads": expected a divisor of 6 (hidden_size times expand_k), got 4)");
}

}  // namespace
}  // namespace lrnn
