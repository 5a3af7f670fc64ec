#include "lrnn/runtime/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "lrnn/base/message_of.h"
#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_rotation.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, its planes as complex numbers: 3 heads, 2 planes, V = 5.
class ReferenceRotation {
 public:
  ReferenceRotation(const TestModel& model, const std::string& prefix)
      : model_(model), prefix_(prefix), S_(3 * 2 * 5) {}

  Row Step(const Row& x) {
    const auto linear = [&](const char* name) { return model_.Linear(prefix_ + name, x); };
    const auto softplus = [](double z) { return std::log1p(std::exp(z)); };
    const Row q = linear(".q_proj"), k = linear(".k_proj"), v = linear(".v_proj"), gate = linear(".g_proj");
    const Row dt = linear(".dt_proj"), a = linear(".a_proj"), angle = linear(".angle_proj");
    Row heads;
    for (int h = 0; h < 3; ++h) {
      const double step = softplus(dt[h]), decay = std::exp(-step * softplus(a[h]));
      Row o(5);
      for (int i = 0; i < 2; ++i) {
        const std::complex<double> key(k[h * 4 + i], k[h * 4 + i + 2]), query(q[h * 4 + i], q[h * 4 + i + 2]);
        for (int j = 0; j < 5; ++j) {
          std::complex<double>& state = S_[(h * 2 + i) * 5 + j];
          state = std::polar(decay, M_PI * std::tanh(angle[i]) * step) * state + step * key * v[h * 5 + j];
          o[j] += (std::conj(query) * state).real() / 2;
        }
      }
      Row normed = model_.Norm(prefix_ + ".o_norm", o, model_.config["norm_eps"]);
      for (int j = 0; j < 5; ++j) heads.push_back(normed[j] * Silu(gate[h * 5 + j]));
    }
    return model_.Linear(prefix_ + ".o_proj", heads);
  }

 private:
  const TestModel& model_;
  std::string prefix_;
  std::vector<std::complex<double>> S_;
};

TEST(RuntimeRotation, EqualsTheEquations) {
  const std::vector<int32_t> tokens = RandomTokens(50, 11);
  const TestModel model = TestRotation();
  ExpectLogits(model, tokens, FlaReferenceLogits<ReferenceRotation>(model, tokens));
}

TEST(RuntimeRotation, StateSizeIsThatOfS) {
  TestDirectory directory;
  TestRotation().Write(directory.path());
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), 2 * 3 * 4 * 5 * sizeof(float));
}

TEST(RuntimeRotation, KeysComeInPairs) {
  TestDirectory directory;
  TestModel model = TestRotation();
  model.config["expand_k"] = 0.2;
  model.Write(directory.path());
  EXPECT_EQ(MessageOf([&] { RuntimeModel::Load(directory.path()); }),
            (directory / "config.json").string() +
                ": field \"num_heads\": expected heads whose keys have an even width, got 3");
}

}  // namespace
}  // namespace lrnn
