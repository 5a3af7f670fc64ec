#include "lrnn/models/model_files.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/io/model_directory.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/layers/registry.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;

Model SmallModel(const std::string& type) {
  return Model(Fields({{"model_type", type},
                       {"vocab_size", 5},
                       {"hidden_size", 16},
                       {"num_hidden_layers", 2},
                       {"allow_neg_eigval", true}},
                      "test"),
               3);
}

TEST(ModelFiles, RoundTripOfEveryLayer) {
  for (const LayerInfo& layer : Layers()) {
    const TestDirectory directory;
    Model model = SmallModel(layer.name);
    SaveModel(model, directory.path() / "model");
    Model loaded = LoadModel(directory.path() / "model");
    const torch::Tensor tokens = torch::tensor({0, 1, 2, 3, 4, 4, 3}, torch::kInt64);
    EXPECT_TRUE(
        torch::equal(loaded->forward(tokens, Sequences::Single(7)), model->forward(tokens, Sequences::Single(7))))
        << layer.name;
    EXPECT_EQ(loaded->config().json(), model->config().json());
  }
}

TEST(ModelFiles, HalfPrecisionWeightsLoad) {
  const TestDirectory directory;
  Model model = SmallModel("delta_net");
  std::vector<torch::Tensor> halves;
  TensorMap views = ParameterViews(*model);
  for (auto& [name, view] : views) {
    halves.push_back(model->named_parameters()[name].detach().to(torch::kBFloat16));
    view = {DType::BF16, view.shape, static_cast<const std::byte*>(halves.back().data_ptr()),
            static_cast<size_t>(halves.back().nbytes())};
  }
  WriteModelDirectory(directory.path() / "model", model->config().json(), views);
  const Model loaded = LoadModel(directory.path() / "model");
  for (const auto& item : loaded->named_parameters()) {
    EXPECT_TRUE(
        torch::equal(item.value(), model->named_parameters()[item.key()].to(torch::kBFloat16).to(torch::kFloat32)))
        << item.key();
  }
}

TEST(ModelFiles, WithoutKeyAndHeadTheHeadIsTied) {
  const TestDirectory directory;
  Model model = SmallModel("mamba");
  nlohmann::json config = model->config().json();
  config.erase("tie_word_embeddings");
  TensorMap views = ParameterViews(*model);
  views.erase("lm_head.weight");
  WriteModelDirectory(directory.path() / "model", config, views);
  EXPECT_TRUE(LoadModel(directory.path() / "model")->config().Bool("tie_word_embeddings"));
}

TEST(ModelFiles, RefusesWhatDoesNotFit) {
  const TestDirectory directory;
  Model model = SmallModel("mamba");
  const auto message = [&](const std::function<void(TensorMap&)>& change) {
    TensorMap views = ParameterViews(*model);
    change(views);
    WriteModelDirectory(directory.path() / "model", model->config().json(), views);
    return MessageOf([&] { LoadModel(directory.path() / "model"); });
  };
  EXPECT_THAT(message([](TensorMap& views) { views.erase("lm_head.weight"); }),
              testing::HasSubstr("tensor \"lm_head.weight\" is missing"));
  EXPECT_THAT(message([](TensorMap& views) { views["extra"] = views["lm_head.weight"]; }),
              testing::HasSubstr("tensor \"extra\" belongs to no part of the model"));
  EXPECT_THAT(message([](TensorMap& views) {
                views["lm_head.weight"].shape = {16, 5};
              }),
              testing::HasSubstr("tensor \"lm_head.weight\": expected shape [5, 16], got [16, 5]"));
}

}  // namespace
}  // namespace lrnn
