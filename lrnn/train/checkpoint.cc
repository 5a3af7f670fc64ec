#include "lrnn/train/checkpoint.h"

#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/model_directory.h"
#include "lrnn/io/safetensors.h"
#include "lrnn/models/model_files.h"

namespace lrnn {

void SaveCheckpoint(const RunDirectory& run, const Model& model, const AdamW& optimizer,
                    const TrainingProgress& progress) {
  run.WriteCheckpoint(progress.step, [&](const std::filesystem::path& directory) {
    SaveModel(model, directory);
    TensorMap means;
    for (const auto& [name, tensor] : optimizer.State()) {
      means.emplace(name,
                    FloatView(tensor.sizes().vec(), {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())}));
    }
    WriteSafetensors(directory / "optimizer.safetensors", means);
    WriteJson(directory / "trainer.json", {{"format", "lrnn.trainer"},
                                           {"version", 1},
                                           {"step", progress.step},
                                           {"tokens", progress.tokens},
                                           {"seconds", progress.seconds},
                                           {"curriculum_length", progress.curriculum_length}});
  });
}

TrainingProgress LoadLatestCheckpoint(const RunDirectory& run, Model& model, AdamW& optimizer) {
  if (run.Checkpoints().empty()) return {};
  const std::filesystem::path directory = run.LatestCheckpoint().path;
  const ModelDirectory files = ModelDirectory::Open(directory);
  std::vector<std::pair<std::string, torch::Tensor>> parameters;
  for (const auto& item : model->named_parameters()) parameters.emplace_back(item.key(), item.value());
  CopyInto(files.tensors(), parameters, directory.string());
  const std::filesystem::path means = directory / "optimizer.safetensors";
  CopyInto(SafetensorsFile::Open(means).tensors(), optimizer.State(), means.string());
  const Fields trainer(ReadJson(directory / "trainer.json"), (directory / "trainer.json").string());
  if (trainer.Int("version") != 1) trainer.Refuse("version", "1");
  return {trainer.Int("step"), trainer.Int("tokens"), trainer.Double("seconds"), trainer.Int("curriculum_length", 0)};
}

}  // namespace lrnn
