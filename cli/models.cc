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
  nlohmann::json parameters = nlohmann::json::object();
  if (const Fields& config = loaded.model->config(); config.Has("lrnn")) {
    const Fields trained = config.Object("lrnn");
    if (name.empty()) name = trained.String("task", "");
    // Its own task with its own parameters, another one with that one's defaults.
    if (trained.String("task", "") == name && trained.Has("task_parameters")) {
      parameters = trained.Object("task_parameters").json();
    }
  }
  LRNN_CHECK(!name.empty(), "--task: {} does not say what it was trained for", run_or_model.string());
  loaded.task = MakeTask(name, parameters);
  return loaded;
}

}  // namespace lrnn::cli
