#include "lrnn/runtime/slstm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/test_gated_rnn.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations without the stabiliser: double holds e^80.
class ReferenceSlstm {
 public:
  ReferenceSlstm(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const Row i = Gate("igate", 0, x), f = Gate("fgate", 1, x), z = Gate("zgate", 2, x), o = Gate("ogate", 3, x);
    Row y(kD);
    for (int64_t u = 0; u < kD; ++u) {
      c_[u] = Sigmoid(f[u]) * c_[u] + std::exp(i[u]) * std::tanh(z[u]);
      n_[u] = Sigmoid(f[u]) * n_[u] + std::exp(i[u]);
      h_[u] = Sigmoid(o[u]) * c_[u] / n_[u];
    }
    for (int64_t head = 0; head < kD / kK; ++head) {
      double mean = 0, variance = 0;
      for (int64_t u = head * kK; u < (head + 1) * kK; ++u) mean += h_[u] / kK;
      for (int64_t u = head * kK; u < (head + 1) * kK; ++u) variance += (h_[u] - mean) * (h_[u] - mean) / kK;
      for (int64_t u = head * kK; u < (head + 1) * kK; ++u) {
        const double normed = (h_[u] - mean) / std::sqrt(variance + model_.config["norm_eps"].get<double>());
        y[u] = normed * (1 + model_[prefix_ + ".group_norm.weight"][u]);
      }
    }
    return y;
  }

 private:
  static constexpr int64_t kD = 12, kK = 4;

  Row Gate(const std::string& name, int64_t gate, const Row& x) const {
    const std::vector<float>&W = model_[prefix_ + "." + name + ".weight"],
          &R = model_[prefix_ + ".slstm_cell._recurrent_kernel_"], &bias = model_[prefix_ + ".slstm_cell._bias_"];
    Row sum(kD);
    for (int64_t u = 0; u < kD; ++u) {
      const int64_t head = u / kK, unit = u % kK;
      sum[u] = bias[(head * 4 + gate) * kK + unit];
      for (int64_t l = 0; l < kK; ++l) {
        sum[u] += W[u * kK + l] * x[head * kK + l];
        sum[u] += R[((head * kK + l) * 4 + gate) * kK + unit] * h_[head * kK + l];
      }
    }
    return sum;
  }

  const TestModel& model_;
  std::string prefix_;
  Row h_ = Row(kD), c_ = Row(kD), n_ = Row(kD);
};

std::vector<Row> ReferenceLogits(const TestModel& model, const std::vector<int32_t>& tokens) {
  const std::string root = "xlstm_block_stack.";
  const double eps = model.config["norm_eps"];
  std::vector<ReferenceSlstm> mixers;
  for (int i = 0; i < model.config["num_hidden_layers"]; ++i) {
    mixers.emplace_back(model, root + "layers." + std::to_string(i) + ".xlstm");
  }
  std::vector<Row> logits;
  for (int32_t token : tokens) {
    Row x = model.Embedding(root + "embeddings", token);
    for (size_t i = 0; i < mixers.size(); ++i) {
      const std::string layer = root + "layers." + std::to_string(i) + ".";
      x = Sum(x, mixers[i].Step(model.Norm(layer + "xlstm_norm", x, eps)));
      const Row up = model.Linear(layer + "ffn.proj_up", model.Norm(layer + "ffn_norm", x, eps));
      Row inner(up.size() / 2);
      for (size_t j = 0; j < inner.size(); ++j) {
        inner[j] = 0.5 * up[j] * (1 + std::erf(up[j] / std::sqrt(2.0))) * up[inner.size() + j];
      }
      x = Sum(x, model.Linear(layer + "ffn.proj_down", inner));
    }
    if (model.config["use_final_norm"]) x = model.Norm(root + "post_blocks_norm", x, eps);
    logits.push_back(model.Linear(model.config["tie_word_embeddings"] ? root + "embeddings" : "lm_head", x));
  }
  return logits;
}

void ExpectReferenceLogits(const TestModel& model) {
  const std::vector<int32_t> tokens = RandomTokens(50, 7);
  ExpectLogits(model, tokens, ReferenceLogits(model, tokens));
}

TEST(RuntimeSlstm, EqualsTheEquations) {
  ExpectReferenceLogits(TestSlstm());
  ExpectReferenceLogits(TestSlstm({{"tie_word_embeddings", true}, {"use_final_norm", false}}));
}

// Input gates of 80 and -80, forget gates of either: e^80 squared overflows in float, the stream does not.
TEST(RuntimeSlstm, GatesOf80) {
  for (float input : {80.0f, -80.0f}) {
    for (float forget : {80.0f, -80.0f}) {
      SCOPED_TRACE(testing::Message() << "gates " << input << " and " << forget);
      TestModel model = TestSlstm();
      for (auto& [name, tensor] : model.tensors) {
        if (!name.ends_with("_bias_")) continue;
        for (size_t i = 0; i < tensor.values.size(); ++i) {
          if (i / 4 % 4 == 0) tensor.values[i] = input;
          if (i / 4 % 4 == 1) tensor.values[i] = forget;
        }
      }
      ExpectReferenceLogits(model);
    }
  }
}

TEST(RuntimeSlstm, StateSize) {
  TestDirectory directory;
  TestSlstm().Write(directory.path());
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), 2 * 4 * 12 * sizeof(float));
}

}  // namespace
}  // namespace lrnn
