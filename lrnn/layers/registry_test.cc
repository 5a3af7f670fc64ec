// The contract of every registered layer, in both eigenvalue ranges.
#include "lrnn/layers/registry.h"

#include <gmock/gmock.h>
#include <torch/serialize.h>

#include "lrnn/base/error.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

constexpr int64_t kWidth = 24;

struct Param {
  std::string layer;
  bool extended;
  std::string variant = "";  // the name of settings away from the defaults
  nlohmann::json changes = nlohmann::json::object();

  std::string Name() const {
    return layer + (variant.empty() ? "" : "_" + variant) + (extended ? "_extended" : "_original");
  }
};
void PrintTo(const Param& param, std::ostream* out) { *out << param.Name(); }

// Every layer as it is by default, and forms of one that the default does not reach.
std::vector<Param> Params() {
  std::vector<Param> params;
  for (const LayerInfo& layer : Layers()) {
    for (bool extended : {false, true}) {
      if (extended && !layer.has_extended_range()) continue;
      params.push_back({layer.name, extended});
      if (layer.name == "gated_deltanet") {
        params.push_back({layer.name, extended, "shared_keys", {{"num_heads", 2}, {"num_v_heads", 4}}});
      } else if (layer.name == "gated_deltaproduct") {
        params.push_back({layer.name, extended, "2_steps", {{"num_householder", 2}, {"use_short_conv", false}}});
        params.push_back({layer.name, extended, "3_steps_gated", {{"num_householder", 3}, {"use_forget_gate", true}}});
      }
    }
  }
  return params;
}

// A layer that reads the tokens themselves, as one that sees x: the tokens are those of its first column.
class TokensFromColumn : public LinearMixer {
 public:
  explicit TokensFromColumn(const std::shared_ptr<SequenceMixer>& layer)
      : layer_(register_module("layer", std::dynamic_pointer_cast<LinearMixer>(layer))) {}

  Tensor forward(const Tensor& x, const Sequences& sequences, MixerState* state) override {
    return layer_->forward(x, WithIds(x, sequences), state);
  }
  EigenvalueRange eigenvalue_range() const override { return layer_->eigenvalue_range(); }
  Tensor Eigenvalues(const Tensor& x, const Sequences& sequences) override {
    return layer_->Eigenvalues(x, WithIds(x, sequences));
  }
  Tensor Transitions(const Tensor& x, const Sequences& sequences) override {
    return layer_->Transitions(x, WithIds(x, sequences));
  }
  int64_t state_size() const override { return layer_->state_size(); }

  static constexpr int64_t kVocabulary = 8;

 private:
  static Sequences WithIds(const Tensor& x, const Sequences& sequences) {
    return sequences.WithIds(x.select(1, 0).floor().to(torch::kInt64).remainder(kVocabulary));
  }

  std::shared_ptr<LinearMixer> layer_;
};

std::shared_ptr<SequenceMixer> Make(const Param& param, uint64_t seed = 1) {
  const LayerInfo& info = FindLayer(param.layer);
  nlohmann::json config = {
      {"hidden_size", kWidth}, {"vocab_size", TokensFromColumn::kVocabulary}, {"allow_neg_eigval", param.extended}};
  config.update(param.changes);
  Rng rng(seed, 0);
  auto mixer = info.make(WithDefaults(info, Fields(config, "test")), rng);
  return param.layer == "token_matrix" ? std::make_shared<TokensFromColumn>(mixer) : mixer;
}

// The same layer with its weights drawn larger: eigenvalues and gates then take all their values, not only those of the
// start.
std::shared_ptr<SequenceMixer> MakeWild(const Param& param) {
  auto mixer = Make(param);
  torch::NoGradGuard no_grad;
  torch::manual_seed(3);
  for (auto& parameter : mixer->parameters()) parameter.add_(0.5 * torch::randn_like(parameter));
  return mixer;
}

// nullptr for a layer without a transition.
std::shared_ptr<LinearMixer> MakeWildLinear(const Param& param) {
  return std::dynamic_pointer_cast<LinearMixer>(MakeWild(param));
}

Tensor Input(int64_t T, torch::Dtype dtype = torch::kFloat32) {
  torch::manual_seed(2);
  return torch::randn({T, kWidth}, dtype);
}

class LayerContract : public testing::TestWithParam<Param> {};

TEST_P(LayerContract, GivesARowForEachToken) {
  const auto mixer = Make(GetParam());
  const auto sequences = Sequences::FromLengths({5, 1, 0, 9});
  const Tensor y = mixer->forward(Input(15), sequences);
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{15, kWidth}));
  EXPECT_TRUE(torch::isfinite(y).all().item<bool>());
  const Tensor empty = mixer->forward(Input(0), Sequences::FromLengths({}));
  EXPECT_EQ(empty.sizes(), (std::vector<int64_t>{0, kWidth}));
}

TEST_P(LayerContract, StaysFinite) {
  const auto mixer = MakeWild(GetParam());
  torch::NoGradGuard no_grad;
  const auto is_finite = [&](const Tensor& x) {
    return torch::isfinite(mixer->forward(x, Sequences::Single(x.size(0)))).all().item<bool>();
  };
  EXPECT_TRUE(is_finite(torch::zeros({20, kWidth}))) << "zeros, and with them keys of length 0";
  // The same token over and over, but where a state may grow: without a bound, or because it holds all tokens.
  const auto* const linear = dynamic_cast<LinearMixer*>(mixer.get());
  const bool may_grow = mixer->state_growth() > 0 || (linear && linear->eigenvalue_range() == kUnbounded);
  const int64_t tokens = may_grow ? 20 : GetParam().variant.empty() ? 100000 : 1000;
  EXPECT_TRUE(is_finite(Input(1).expand({tokens, kWidth}).contiguous()));
}

TEST_P(LayerContract, IsCausal) {
  const auto mixer = MakeWild(GetParam());
  const Tensor x = Input(20);
  Tensor changed = x.clone();
  changed.slice(0, 11) += 1;
  const Tensor a = mixer->forward(x, Sequences::Single(20)), b = mixer->forward(changed, Sequences::Single(20));
  EXPECT_TRUE(torch::equal(a.slice(0, 0, 11), b.slice(0, 0, 11)));
  EXPECT_FALSE(torch::allclose(a.slice(0, 11), b.slice(0, 11)));
}

TEST_P(LayerContract, RemembersTheFirstToken) {
  const auto mixer = MakeWild(GetParam());
  Tensor x = Input(8), changed = x.clone();
  changed[0] += 1;
  EXPECT_FALSE(
      torch::equal(mixer->forward(x, Sequences::Single(8))[7], mixer->forward(changed, Sequences::Single(8))[7]));
}

TEST_P(LayerContract, StepByStepIsTheWholeSequence) {
  const auto mixer = MakeWild(GetParam());
  mixer->to(torch::kFloat64);
  const Tensor x = Input(23, torch::kFloat64), whole = mixer->forward(x, Sequences::Single(23));
  MixerState state;
  for (int64_t t = 0; t < 23; ++t) {
    const Tensor y = mixer->forward(x.slice(0, t, t + 1), Sequences::Single(1), &state);
    EXPECT_LT(ops::RelativeError(y[0], whole[t]), 1e-11) << "token " << t;
  }
  int64_t numbers = 0;
  for (const Tensor& tensor : state) numbers += tensor.numel();
  EXPECT_EQ(numbers, mixer->state_size() + 23 * mixer->state_growth());
}

TEST_P(LayerContract, AnySplitIsTheWholeSequence) {
  const auto mixer = MakeWild(GetParam());
  mixer->to(torch::kFloat64);
  const std::vector<int64_t> lengths{7, 18};
  const Tensor x = Input(25, torch::kFloat64), whole = mixer->forward(x, Sequences::FromLengths(lengths));
  for (const auto& [first, second] : {std::pair<int64_t, int64_t>{1, 2}, {3, 17}, {7, 18}, {0, 5}}) {
    MixerState state;
    const auto rows = [&](int64_t a, int64_t b, int64_t c, int64_t d) {
      return torch::cat({x.slice(0, a, b), x.slice(0, 7 + c, 7 + d)});
    };
    const Tensor head = mixer->forward(rows(0, first, 0, second), Sequences::FromLengths({first, second}), &state);
    const Tensor tail =
        mixer->forward(rows(first, 7, second, 18), Sequences::FromLengths({7 - first, 18 - second}), &state);
    const Tensor joined = torch::cat(
        {head.slice(0, 0, first), tail.slice(0, 0, 7 - first), head.slice(0, first), tail.slice(0, 7 - first)});
    EXPECT_LT(ops::RelativeError(joined, whole), 1e-11) << "split at " << first << " and " << second;
  }
}

TEST_P(LayerContract, PackedIsOneByOne) {
  const auto mixer = MakeWild(GetParam());
  mixer->to(torch::kFloat64);
  const auto sequences = Sequences::FromLengths({4, 1, 12});
  const Tensor x = Input(17, torch::kFloat64), packed = mixer->forward(x, sequences);
  for (int64_t i = 0; i < sequences.count(); ++i) {
    const Tensor alone =
        mixer->forward(x.slice(0, sequences.begin(i), sequences.end(i)), Sequences::Single(sequences.length(i)));
    EXPECT_LT(ops::RelativeError(packed.slice(0, sequences.begin(i), sequences.end(i)), alone), 1e-12);
  }
}

TEST_P(LayerContract, GradientsReachEveryParameterAndAreRight) {
  const auto mixer = MakeWild(GetParam());
  mixer->to(torch::kFloat64);
  const auto sequences = Sequences::FromLengths({3, 4});
  const Tensor x = Input(7, torch::kFloat64);
  ops::WeightedSum({mixer->forward(x, sequences)}).backward();
  torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  for (auto& item : mixer->named_parameters()) {
    Tensor parameter = item.value();
    ASSERT_TRUE(parameter.grad().defined()) << item.key();
    // A central difference along a random direction.
    const Tensor direction = torch::randn_like(parameter);
    const auto value_at = [&](double step) {
      parameter.add_(direction, step);
      const double value = ops::WeightedSum({mixer->forward(x, sequences)}).item<double>();
      parameter.add_(direction, -step);
      return value;
    };
    const double difference = (value_at(1e-6) - value_at(-1e-6)) / 2e-6;
    const double gradient = (parameter.grad() * direction).sum().item<double>();
    EXPECT_NEAR(gradient, difference, 1e-5 * std::max(1.0, std::abs(difference))) << item.key();
  }
}

TEST_P(LayerContract, SavedParametersGiveTheSameLayer) {
  const auto a = MakeWild(GetParam()), b = Make(GetParam(), 9);
  const Tensor x = Input(6);
  EXPECT_FALSE(torch::equal(a->forward(x, Sequences::Single(6)), b->forward(x, Sequences::Single(6))));
  std::stringstream file;
  torch::save(a, file);
  auto restored = b;
  torch::load(restored, file);
  EXPECT_TRUE(torch::equal(a->forward(x, Sequences::Single(6)), restored->forward(x, Sequences::Single(6))));
}

TEST_P(LayerContract, SameSeedSameWeights) {
  const auto a = Make(GetParam(), 4), b = Make(GetParam(), 4), c = Make(GetParam(), 5);
  bool differs = false;
  for (const auto& item : a->named_parameters()) {
    EXPECT_TRUE(torch::equal(item.value(), b->named_parameters()[item.key()])) << item.key();
    differs |= !torch::equal(item.value(), c->named_parameters()[item.key()]);
  }
  EXPECT_TRUE(differs);
}

TEST_P(LayerContract, SpectrumLiesInTheDeclaredRange) {
  const LayerInfo& info = FindLayer(GetParam().layer);
  const auto mixer = MakeWildLinear(GetParam());
  ASSERT_EQ(mixer != nullptr, info.is_linear());
  if (!mixer) return;  // no transition, no spectrum
  mixer->to(torch::kFloat64);
  const EigenvalueRange declared = mixer->eigenvalue_range(),
                        listed = GetParam().extended ? info.extended : info.original;
  if (GetParam().variant.empty()) {
    EXPECT_EQ(declared.low, listed.low);
    EXPECT_EQ(declared.high, listed.high);
  }

  torch::NoGradGuard no_grad;
  const auto sequences = Sequences::FromLengths({9, 3});
  const Tensor x = 3 * Input(12, torch::kFloat64);
  const Tensor dense = mixer->Transitions(x, sequences);  // [T, blocks, n, n]
  ASSERT_EQ(dense.dim(), 4);
  const Tensor spectrum = torch::linalg_eigvals(dense);
  const Tensor reported = mixer->Eigenvalues(x, sequences);
  constexpr double kRounding = 1e-9;
  if (!reported.is_complex()) {
    EXPECT_LT(torch::imag(spectrum).abs().max().item<double>(), kRounding);
  }
  EXPECT_LE(spectrum.abs().max().item<double>(), std::max(std::abs(declared.low), std::abs(declared.high)) + kRounding);
  EXPECT_GE(torch::real(spectrum).min().item<double>(), declared.low - kRounding);
  EXPECT_LE(torch::real(spectrum).max().item<double>(), declared.high + kRounding);
  if (GetParam().extended) {
    EXPECT_LT(torch::real(spectrum).min().item<double>(), -0.5) << "the extended range is used";
  }

  // What Eigenvalues reports is the smallest of each transition, or all of them.
  EXPECT_NEAR(torch::real(reported).min().item<double>(), torch::real(spectrum).min().item<double>(), 1e-8);
}

// The transitions shown are those that are used: without them the state after a token would be another.
TEST_P(LayerContract, TransitionsActOnTheState) {
  const auto mixer = MakeWildLinear(GetParam());
  if (!mixer) return;
  mixer->to(torch::kFloat64);
  torch::NoGradGuard no_grad;
  const Tensor x = Input(1, torch::kFloat64);
  const auto one = Sequences::Single(1);
  MixerState zero, other;
  mixer->forward(Input(4, torch::kFloat64), Sequences::Single(4), &other);
  // Two streams in the same convolution state, one with H = 0: their states after the token differ by A H.
  zero = other;
  const Tensor H = other.back().clone();
  zero.back() = torch::zeros_like(H);
  for (size_t i = 0; i + 1 < other.size(); ++i) zero[i] = other[i] = torch::zeros_like(other[i]);
  mixer->forward(x, one, &other);
  mixer->forward(x, one, &zero);
  const Tensor A = mixer->Transitions(x, one)[0];  // [blocks, n, n]
  const Tensor blocks = H[0].reshape({A.size(0), A.size(1), -1});
  const Tensor got = (other.back() - zero.back())[0].reshape(blocks.sizes());
  Tensor expected = A.matmul(blocks);
  if (mixer->rescales_state()) {
    const Tensor factor = (got * expected).sum({1, 2}, true) / expected.square().sum({1, 2}, true);
    EXPECT_GT(factor.min().item<double>(), 0);
    expected = factor * expected;
  }
  EXPECT_LT(ops::RelativeError(got, expected), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(AllLayers, LayerContract, testing::ValuesIn(Params()),
                         [](const auto& info) { return info.param.Name(); });

TEST(Layers, UnknownNameListsTheKnown) {
  EXPECT_THAT([] { FindLayer("lstm2"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("unknown layer \"lstm2\" (known: delta_net, ")));
}

}  // namespace
}  // namespace lrnn
