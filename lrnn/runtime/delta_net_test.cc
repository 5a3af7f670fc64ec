#include "lrnn/runtime/delta_net.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_model.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations with the full matrix S of each head.
class ReferenceDeltaNet {
 public:
  ReferenceDeltaNet(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const auto& config = model_.config;
    const int H = 3, K = 2, V = 7;
    const bool silu_qk = config["qk_activation"] == "silu";
    const Row q = Input("q", x, inputs_q_, silu_qk);
    const Row k = Input("k", x, inputs_k_, silu_qk);
    const Row v = Input("v", x, inputs_v_, true);
    const Row b = model_.Linear(prefix_ + ".b_proj", x);
    Row heads;
    for (int h = 0; h < H; ++h) {
      const Row q_unit = Unit(q, h, K), k_unit = Unit(k, h, K);
      const double beta = (config["allow_neg_eigval"] ? 2 : 1) * Sigmoid(b[h]);
      // S <- (I - beta k k^T) S + beta k v^T
      std::vector<Row>& S = states_[h];
      S.resize(K, Row(V));
      std::vector<Row> next(K, Row(V));
      for (int i = 0; i < K; ++i) {
        for (int j = 0; j < V; ++j) {
          for (int l = 0; l < K; ++l) next[i][j] += ((i == l) - beta * k_unit[i] * k_unit[l]) * S[l][j];
          next[i][j] += beta * k_unit[i] * v[h * V + j];
        }
      }
      S = next;
      Row o(V);
      for (int j = 0; j < V; ++j) {
        for (int i = 0; i < K; ++i) o[j] += S[i][j] * q_unit[i] / std::sqrt(K);
      }
      const Row normed = model_.Norm(prefix_ + ".o_norm", o, config["norm_eps"]);
      heads.insert(heads.end(), normed.begin(), normed.end());
    }
    return model_.Linear(prefix_ + ".o_proj", heads);
  }

 private:
  Row Input(const std::string& name, const Row& x, std::vector<Row>& inputs, bool silu) {
    inputs.push_back(model_.Linear(prefix_ + "." + name + "_proj", x));
    const bool has_conv = model_.config["use_short_conv"];
    Row y = has_conv ? model_.Conv(prefix_ + "." + name + "_conv1d", inputs) : inputs.back();
    for (double& value : y) value = silu ? Silu(value) : value;
    return y;
  }

  static Row Unit(const Row& x, int head, int K) {
    Row y(x.begin() + head * K, x.begin() + (head + 1) * K);
    double squares = 1e-6;
    for (double value : y) squares += value * value;
    for (double& value : y) value /= std::sqrt(squares);
    return y;
  }

  const TestModel& model_;
  std::string prefix_;
  std::vector<Row> inputs_q_, inputs_k_, inputs_v_;
  std::vector<Row> states_[3];
};

constexpr auto ReferenceLogits = FlaReferenceLogits<ReferenceDeltaNet>;

void ExpectReferenceLogits(const TestModel& model) {
  const std::vector<int32_t> tokens = RandomTokens(50, 11);
  ExpectLogits(model, tokens, ReferenceLogits(model, tokens));
}

TEST(RuntimeDeltaNet, EqualsTheEquations) {
  for (bool allow_neg_eigval : {false, true}) {
    for (bool use_short_conv : {false, true}) {
      for (const char* activation : {"silu", "identity"}) {
        SCOPED_TRACE(fmt::format("allow_neg_eigval {}, conv {}, {}", allow_neg_eigval, use_short_conv, activation));
        ExpectReferenceLogits(TestDeltaNet({{"allow_neg_eigval", allow_neg_eigval},
                                            {"use_short_conv", use_short_conv},
                                            {"qk_activation", activation}}));
      }
    }
  }
}

TEST(RuntimeDeltaNet, OtherForms) {
  ExpectReferenceLogits(TestDeltaNet({{"conv_size", 1}}));
  ExpectReferenceLogits(TestDeltaNet({{"conv_size", 7}, {"num_hidden_layers", 1}}));
  ExpectReferenceLogits(TestDeltaNet({{"tie_word_embeddings", true}}));
  ExpectReferenceLogits(TestDeltaNet({{"use_final_norm", false}}));
}

TEST(RuntimeDeltaNet, BothRangesDiffer) {
  const std::vector<int32_t> tokens = RandomTokens(5, 11);
  EXPECT_GT(std::abs(ReferenceLogits(TestDeltaNet(), tokens)[4][0] -
                     ReferenceLogits(TestDeltaNet({{"allow_neg_eigval", true}}), tokens)[4][0]),
            1e-3);
}

TEST(RuntimeDeltaNet, StateSizeIsThatOfConvolutionsAndS) {
  TestDirectory directory;
  TestDeltaNet().Write(directory.path());
  const int64_t floats = 2 * (3 * (6 + 6 + 21) + 3 * 2 * 7);
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), floats * sizeof(float));
}

TEST(RuntimeDeltaNet, RefusesWhatItCannotRun) {
  TestDirectory directory;
  const std::string place = (directory / "config.json").string() + ": field ";
  const auto message = [&](const char* name, const nlohmann::json& value) {
    TestModel model = TestDeltaNet();
    model.config[name] = value;
    model.Write(directory.path());
    return MessageOf([&] { RuntimeModel::Load(directory.path()); });
  };
  EXPECT_EQ(message("qk_activation", "relu"), place + R"("qk_activation": expected "silu" or "identity", got "relu")");
  EXPECT_EQ(message("qk_norm", "sum"), place + R"("qk_norm": expected "l2", got "sum")");
  EXPECT_EQ(message("use_beta", false), place + R"("use_beta": expected true, got false)");
  EXPECT_EQ(message("use_gate", true), place + R"("use_gate": expected false, got true)");
  EXPECT_EQ(message("attn", {{"layers", {0}}}),
            place + R"("attn": expected null (no attention layers), got {"layers":[0]})");
  EXPECT_EQ(message("num_heads", 4),
            place + R"("num_heads": expected a divisor of 6 (hidden_size times expand_k), got 4)");
  EXPECT_EQ(message("expand_v", 0.01),
            place + R"("expand_v": expected a number that makes the width at least 1, got 0.01)");
  EXPECT_EQ(message("num_heads", nullptr), place + R"("num_heads" is missing)");
  EXPECT_EQ(message("conv_size", 0), place + R"("conv_size": expected a positive integer, got 0)");
  EXPECT_EQ(message("allow_neg_eigval", "yes"), place + R"("allow_neg_eigval": expected true or false, got "yes")");
}

}  // namespace
}  // namespace lrnn
