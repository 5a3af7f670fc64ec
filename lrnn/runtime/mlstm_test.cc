#include "lrnn/runtime/mlstm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/test_mlstm.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations without the stabiliser: small gates need none.
class ReferenceMlstm {
 public:
  ReferenceMlstm(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const int64_t I = 24, H = 3, K = 8;
    const Row uz = model_.Linear(prefix_ + ".proj_up", x);
    inputs_.emplace_back(uz.begin(), uz.begin() + I);
    Row c = model_.Conv(prefix_ + ".conv1d.conv", inputs_);
    for (double& value : c) value = Silu(value);
    const Row q = Blocks("q", c), k = Blocks("k", c), v = Blocks("v", inputs_.back());
    Row qkv = q;
    qkv.insert(qkv.end(), k.begin(), k.end());
    qkv.insert(qkv.end(), v.begin(), v.end());
    const Row i = model_.Linear(prefix_ + ".mlstm_cell.igate", qkv),
              f = model_.Linear(prefix_ + ".mlstm_cell.fgate", qkv);
    C_.resize(H * K * K);
    n_.resize(H * K);
    Row y(I);
    for (int64_t h = 0; h < H; ++h) {
      const double a = model_.config["allow_neg_eigval"] ? 2 * Sigmoid(f[h]) - 1 : Sigmoid(f[h]);
      double dot = 0;
      Row out(K);
      for (int64_t r = 0; r < K; ++r) {
        const double key = std::exp(i[h]) * k[h * K + r] / std::sqrt(K);
        n_[h * K + r] = a * n_[h * K + r] + key;
        dot += n_[h * K + r] * q[h * K + r];
        for (int64_t s = 0; s < K; ++s) {
          double& state = C_[(h * K + r) * K + s];
          state = a * state + key * v[h * K + s];
          out[s] += state * q[h * K + r];
        }
      }
      double mean = 0, variance = 0;
      for (double& value : out) value /= std::max(std::abs(dot), 1.0);
      for (double value : out) mean += value / K;
      for (double value : out) variance += (value - mean) * (value - mean) / K;
      for (int64_t s = 0; s < K; ++s) {
        const int64_t at = h * K + s;
        const double normed = (out[s] - mean) / std::sqrt(variance + model_.config["norm_eps"].get<double>());
        y[at] = normed * (1 + model_[prefix_ + ".mlstm_cell.outnorm.weight"][at]);
        y[at] = (y[at] + model_[prefix_ + ".learnable_skip"][at] * c[at]) * Silu(uz[I + at]);
      }
    }
    return model_.Linear(prefix_ + ".proj_down", y);
  }

 private:
  Row Blocks(const std::string& name, const Row& x) const {
    const std::vector<float>& W = model_[prefix_ + "." + name + "_proj.weight"];
    Row y(x.size());
    for (size_t row = 0; row < y.size(); ++row) {
      y[row] = W[row * 2] * x[row / 2 * 2] + W[row * 2 + 1] * x[row / 2 * 2 + 1];
    }
    return y;
  }

  const TestModel& model_;
  std::string prefix_;
  std::vector<Row> inputs_;
  Row C_, n_;
};

std::vector<Row> ReferenceLogits(const TestModel& model, const std::vector<int32_t>& tokens) {
  const std::string root = "xlstm_block_stack.";
  const double eps = model.config["norm_eps"];
  std::vector<ReferenceMlstm> mixers;
  for (int i = 0; i < model.config["num_hidden_layers"]; ++i) {
    mixers.emplace_back(model, root + "layers." + std::to_string(i) + ".xlstm");
  }
  std::vector<Row> logits;
  for (int32_t token : tokens) {
    Row x = model.Embedding(root + "embeddings", token);
    for (size_t i = 0; i < mixers.size(); ++i) {
      x = Sum(x, mixers[i].Step(model.Norm(root + "layers." + std::to_string(i) + ".xlstm_norm", x, eps)));
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

TEST(RuntimeMlstm, EqualsTheEquations) {
  for (bool allow_neg_eigval : {false, true}) {
    SCOPED_TRACE(allow_neg_eigval);
    ExpectReferenceLogits(TestMlstm({{"allow_neg_eigval", allow_neg_eigval}}));
  }
}

TEST(RuntimeMlstm, OtherForms) {
  ExpectReferenceLogits(TestMlstm({{"conv1d_kernel_size", 1}}));
  ExpectReferenceLogits(TestMlstm({{"tie_word_embeddings", true}, {"use_final_norm", false}}));
}

// Input gates of 80 and -80 by turns of the bias, forget gates of either: e^80 squared overflows, the stream does not.
TEST(RuntimeMlstm, GatesOf80) {
  for (float input : {80.0f, -80.0f}) {
    for (float forget : {80.0f, -80.0f}) {
      TestModel model = TestMlstm();
      for (auto& [name, tensor] : model.tensors) {
        if (name.ends_with("igate.bias")) std::fill(tensor.values.begin(), tensor.values.end(), input);
        if (name.ends_with("fgate.bias")) std::fill(tensor.values.begin(), tensor.values.end(), forget);
      }
      TestDirectory directory;
      model.Write(directory.path());
      const auto session = RuntimeModel::Load(directory.path()).NewSession();
      const std::vector<int32_t> tokens = RandomTokens(50, 7);
      const std::vector<Row> expected = ReferenceLogits(model, tokens);  // double holds e^80 times 50 tokens
      for (size_t t = 0; t < tokens.size(); ++t) {
        const auto logits = session->Step(tokens[t]);
        for (size_t i = 0; i < logits.size(); ++i) {
          ASSERT_NEAR(logits[i], expected[t][i], 1e-3 * (1 + std::abs(expected[t][i])))
              << "gates " << input << " and " << forget << ", token " << t;
        }
      }
    }
  }
}

TEST(RuntimeMlstm, StateSizeIsThatOfConvolutionStabiliserAndMatrix) {
  TestDirectory directory;
  TestMlstm().Write(directory.path());
  const int64_t floats = 2 * (2 * 24 + 3 + 3 * 8 * 9);
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), floats * sizeof(float));
}

TEST(RuntimeMlstm, RefusesWhatItCannotRun) {
  TestDirectory directory;
  TestModel model = TestMlstm();
  model.config["num_heads"] = 5;
  model.Write(directory.path());
  EXPECT_EQ(MessageOf([&] { RuntimeModel::Load(directory.path()); }),
            (directory / "config.json").string() +
                R"(: field "num_heads": expected a divisor of 24 (the inner width), got 5)");
}

}  // namespace
}  // namespace lrnn
