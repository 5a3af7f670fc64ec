#include "lrnn/io/model_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::Key;

class ModelDirectoryTest : public testing::Test {
 protected:
  std::string OpenMessage() {
    return MessageOf([&] { ModelDirectory::Open(path_); });
  }

  // A model in two parts.
  void WriteShards() {
    WriteModelDirectory(path_, {{"model_type", "mamba"}}, {});
    std::filesystem::remove(path_ / "model.safetensors");
    WriteSafetensors(path_ / "model-1.safetensors", {{"a", a_}});
    WriteSafetensors(path_ / "model-2.safetensors", {{"b", b_}, {"unlisted", a_}});
    WriteIndex({{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}});
  }
  void WriteIndex(const nlohmann::json& map) {
    WriteJson(path_ / "model.safetensors.index.json", {{"metadata", nlohmann::json::object()}, {"weight_map", map}});
  }

  TestDirectory directory_;
  std::filesystem::path path_ = directory_ / "models/m";
  std::vector<float> values_{1, 2, 3, 4, 5, 6};
  TensorView a_ = FloatView({2, 3}, values_);
  TensorView b_ = FloatView({4}, std::span(values_).first(4));
  int32_t integer_ = 7;
};

TEST_F(ModelDirectoryTest, OtherDialectsAreShownInOneForm) {
  WriteModelDirectory(path_, {{"model_type", "gated_deltaproduct"}, {"use_gate", false}},
                      {{"l.attn.k_projs.0.weight", a_}, {"l.attn.k_projs.1.weight", a_}});
  const ModelDirectory moved = [&] { return ModelDirectory::Open(path_); }();
  EXPECT_EQ(moved.fields().Bool("use_output_gate"), false);
  EXPECT_EQ(moved.Floats("l.attn.k_proj.weight", {4, 3}), (std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
}

TEST_F(ModelDirectoryTest, Pickles) {
  WriteModelDirectory(path_, {{"model_type", "mamba"}}, {});
  std::filesystem::rename(path_ / "model.safetensors", path_ / "pytorch_model.bin");
  EXPECT_EQ(OpenMessage(), path_.string() +
                               ": pytorch_model.bin is a program, which lrnn does not run: save the model "
                               "as model.safetensors");
}

TEST_F(ModelDirectoryTest, RoundTrip) {
  const TensorView integer{DType::I32, {}, reinterpret_cast<const std::byte*>(&integer_), 4};
  WriteModelDirectory(path_, {{"model_type", "delta_net"}, {"hidden_size", 3}}, {{"a", a_}, {"b", b_}, {"i", integer}});
  const ModelDirectory model = ModelDirectory::Open(path_);
  EXPECT_EQ(model.fields().PositiveInt("hidden_size"), 3);
  EXPECT_EQ(model.config()["model_type"], "delta_net");
  EXPECT_THAT(model.tensors(), ElementsAre(Key("a"), Key("b"), Key("i")));
  EXPECT_EQ(model.Floats("a", {2, 3}), values_);
  EXPECT_EQ(model.Find("c"), nullptr);
  EXPECT_EQ(SafetensorsFile::Open(path_ / "model.safetensors").metadata().at("format"), "pt");

  const std::string place = (path_ / "model.safetensors").string();
  EXPECT_EQ(MessageOf([&] { model.Get("c"); }), place + ": tensor \"c\" is missing");
  EXPECT_EQ(MessageOf([&] { model.Floats("a", {3, 2}); }), place + ": tensor \"a\": expected shape [3, 2], got [2, 3]");
  EXPECT_EQ(MessageOf([&] { model.Floats("i", {}); }),
            place + ": tensor \"i\": expected type F64, F32, F16 or BF16, got I32");
}

TEST_F(ModelDirectoryTest, ReadsShards) {
  WriteShards();
  const ModelDirectory model = ModelDirectory::Open(path_);
  EXPECT_THAT(model.tensors(), ElementsAre(Key("a"), Key("b")));
  EXPECT_EQ(model.Floats("a", {2, 3}), values_);
  EXPECT_EQ(model.Floats("b", {4}), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(MessageOf([&] { model.Get("c"); }),
            (path_ / "model.safetensors.index.json").string() + ": tensor \"c\" is missing");
}

TEST_F(ModelDirectoryTest, ShardErrors) {
  WriteShards();
  const std::string index = (path_ / "model.safetensors.index.json").string();
  WriteIndex({{"b", "model-1.safetensors"}});
  EXPECT_EQ(OpenMessage(), (path_ / "model-1.safetensors").string() + ": tensor \"b\" is missing");
  WriteIndex({{"b", "model-3.safetensors"}});
  EXPECT_EQ(OpenMessage(), (path_ / "model-3.safetensors").string() + ": cannot open: No such file or directory");
  for (const char* file : {"../model-1.safetensors", "/etc/passwd", "..", ""}) {
    WriteIndex({{"b", file}});
    EXPECT_EQ(OpenMessage(),
              fmt::format("{}: field \"weight_map.b\": expected the name of a file in the same directory, "
                          "got \"{}\"",
                          index, file));
  }
  WriteIndex({{"b", 1}});
  EXPECT_EQ(OpenMessage(), index + ": field \"weight_map.b\": expected a string, got 1");
  WriteJson(index, nlohmann::json::object());
  EXPECT_EQ(OpenMessage(), index + ": field \"weight_map\" is missing");
}

TEST_F(ModelDirectoryTest, WhatIsNotAModel) {
  EXPECT_EQ(OpenMessage(), path_.string() + ": expected a model directory, got nothing of that name");
  std::filesystem::create_directories(path_);
  EXPECT_EQ(OpenMessage(), path_.string() + ": not a model directory: config.json is missing");
  WriteJson(path_ / "config.json", {1});
  EXPECT_EQ(OpenMessage(), (path_ / "config.json").string() + ": expected a JSON object, got [1]");
  WriteJson(path_ / "config.json", nlohmann::json::object());
  EXPECT_EQ(
      OpenMessage(),
      path_.string() + ": not a model directory: neither model.safetensors nor model.safetensors.index.json is there");
  path_ /= "config.json";
  EXPECT_EQ(OpenMessage(), path_.string() + ": expected a model directory, got a file");
  EXPECT_THAT(MessageOf([&] { WriteModelDirectory(path_, {}, {}); }), testing::HasSubstr(": cannot create: "));
}

}  // namespace
}  // namespace lrnn
