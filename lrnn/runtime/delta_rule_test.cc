#include "lrnn/runtime/delta_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_delta_rule.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations with the full matrix S of each head. Which
// gates it has its tensors say.
class ReferenceDeltaRule {
 public:
  ReferenceDeltaRule(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const auto& config = model_.config;
    const int V = static_cast<int>(model_[prefix_ + ".o_norm.weight"].size());
    const int H = static_cast<int>(model_.tensors.at(prefix_ + ".o_proj.weight").shape[1]) / V;
    const int steps = config.value("num_householder", 1), heads = config["num_heads"];
    const bool silu_qk = config.value("qk_activation", "silu") == "silu";
    const Row q = Input("q", x, inputs_q_, silu_qk);
    const Row k = Input("k", x, inputs_k_, silu_qk);
    const Row v = Input("v", x, inputs_v_, true);
    const Row b = model_.Linear(prefix_ + ".b_proj", x);
    const int K = static_cast<int>(q.size()) / heads;
    Row all;
    states_.resize(H, std::vector<Row>(K, Row(V)));
    for (int h = 0; h < H; ++h) {
      const int key_head = h / (H / heads);
      std::vector<Row>& S = states_[h];
      if (model_.tensors.contains(prefix_ + ".A_log")) {
        const double dt =
            std::log1p(std::exp(model_.Linear(prefix_ + ".a_proj", x)[h] + model_[prefix_ + ".dt_bias"][h]));
        for (Row& row : S) {
          for (double& value : row) value *= std::exp(-std::exp(double{model_[prefix_ + ".A_log"][h]}) * dt);
        }
      }
      for (int step = 0; step < steps; ++step) {
        const Row k_unit = Unit(k, step * heads + key_head, K);
        const double m = config.value("beta_margin", 0.0), s = (1 + 2 * m) * Sigmoid(b[step * H + h]) - m;
        const double beta = (config["allow_neg_eigval"] ? 2 : 1) * std::clamp(s, 0.0, 1.0);
        // S <- (I - beta k k^T) S + beta k v^T
        std::vector<Row> next(K, Row(V));
        for (int i = 0; i < K; ++i) {
          for (int j = 0; j < V; ++j) {
            for (int l = 0; l < K; ++l) next[i][j] += ((i == l) - beta * k_unit[i] * k_unit[l]) * S[l][j];
            next[i][j] += beta * k_unit[i] * v[(step * H + h) * V + j];
          }
        }
        S = next;
      }
      const Row q_unit = Unit(q, key_head, K);
      Row o(V);
      for (int j = 0; j < V; ++j) {
        for (int i = 0; i < K; ++i) o[j] += S[i][j] * q_unit[i] / std::sqrt(K);
      }
      const Row normed = model_.Norm(prefix_ + ".o_norm", o, config["norm_eps"]);
      all.insert(all.end(), normed.begin(), normed.end());
    }
    if (model_.tensors.contains(prefix_ + ".g_proj.weight")) {
      const Row gate = model_.Linear(prefix_ + ".g_proj", x);
      for (size_t i = 0; i < all.size(); ++i) all[i] *= Silu(gate[i]);
    }
    return model_.Linear(prefix_ + ".o_proj", all);
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
  std::vector<std::vector<Row>> states_;  // [H][K][V]
};

constexpr auto ReferenceLogits = FlaReferenceLogits<ReferenceDeltaRule>;

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
  ExpectReferenceLogits(TestDeltaNet({{"use_gate", true}}));
  ExpectReferenceLogits(TestDeltaNet({{"beta_margin", 0.3}, {"allow_neg_eigval", true}}));
}

TEST(RuntimeGatedDeltaNet, EqualsTheEquations) {
  for (bool allow_neg_eigval : {false, true}) {
    for (bool use_short_conv : {false, true}) {
      for (bool use_gate : {false, true}) {
        for (int value_heads : {3, 6}) {
          SCOPED_TRACE(fmt::format("allow_neg_eigval {}, conv {}, gate {}, heads of v {}", allow_neg_eigval,
                                   use_short_conv, use_gate, value_heads));
          ExpectReferenceLogits(TestGatedDeltaNet({{"allow_neg_eigval", allow_neg_eigval},
                                                   {"use_short_conv", use_short_conv},
                                                   {"use_gate", use_gate},
                                                   {"num_v_heads", value_heads}}));
        }
      }
    }
  }
}

TEST(RuntimeGatedDeltaProduct, EqualsTheEquations) {
  for (bool allow_neg_eigval : {false, true}) {
    for (bool use_forget_gate : {false, true}) {
      for (int steps : {1, 2, 3}) {
        SCOPED_TRACE(
            fmt::format("allow_neg_eigval {}, forget gate {}, {} steps", allow_neg_eigval, use_forget_gate, steps));
        ExpectReferenceLogits(TestGatedDeltaProduct({{"allow_neg_eigval", allow_neg_eigval},
                                                     {"use_forget_gate", use_forget_gate},
                                                     {"num_householder", steps}}));
      }
    }
  }
  ExpectReferenceLogits(TestGatedDeltaProduct({{"use_output_gate", false}, {"use_short_conv", false}}));
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

TEST(RuntimeGatedDeltaProduct, StateSizeIsThatOfConvolutionsAndS) {
  TestDirectory directory;
  TestGatedDeltaProduct().Write(directory.path());
  const int64_t floats = 2 * (3 * (6 + 2 * 6 + 2 * 21) + 3 * 2 * 7);
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
