#include "cli/models.h"

#include "cli/arguments.h"
#include "lrnn/base/error.h"
#include "lrnn/models/model_files.h"
#include "lrnn/tasks/registry.h"

namespace lrnn::cli {

LoadedModel LoadWithTask(const std::filesystem::path& run_or_model, const std::string& task_name) {
  LoadedModel loaded;
  if (RunDirectory::IsRun(run_or_model)) {
    loaded.run = RunDirectory::Open(run_or_model);
    loaded.run_config = ReadTrainConfig(loaded.run->config_path());
  }
  loaded.model = LoadModel(ModelPath(run_or_model));
  std::string name = task_name;
  const Fields& config = loaded.model->config();
  if (name.empty() && config.Has("lrnn")) name = config.Object("lrnn").String("task", "");
  LRNN_CHECK(!name.empty(), "--task: {} does not say what it was trained for", run_or_model.string());
  loaded.task = &FindTask(name);
  return loaded;
}

}  // namespace lrnn::cli
