#include "cli/models.h"

#include "cli/arguments.h"
#include "cli/trained_task.h"
#include "lrnn/base/error.h"
#include "lrnn/models/model_files.h"
#include "lrnn/tasks/registry.h"

namespace lrnn::cli {
namespace {

// All parameters of a task: those given, and the defaults of the others that have one.
nlohmann::json Complete(const TaskInfo& task, const nlohmann::json& given) {
  nlohmann::json all = nlohmann::json::object();
  for (const TaskParameter& parameter : task.parameters) {
    if (!parameter.value.is_null()) all[parameter.name] = parameter.value;
  }
  all.update(given);
  return all;
}

}  // namespace

LoadedModel LoadWithTask(const std::filesystem::path& run_or_model, const std::string& task_name,
                         const std::vector<std::string>& assignments) {
  LoadedModel loaded;
  if (RunDirectory::IsRun(run_or_model)) {
    loaded.run = RunDirectory::Open(run_or_model);
    loaded.run_config = ReadTrainConfig(loaded.run->config_path());
  }
  loaded.model = LoadModel(ModelPath(run_or_model));
  const TrainedTask trained = TrainedFor(loaded.model->config());
  loaded.own_task = trained.name;
  if (!trained.name.empty()) loaded.own_parameters = Complete(FindTask(trained.name), trained.parameters);
  const std::string& name = task_name.empty() ? loaded.own_task : task_name;
  LRNN_CHECK(!name.empty(), "--task: {} does not say what it was trained for", run_or_model.string());
  const TaskInfo& info = FindTask(name);
  loaded.parameters = name == loaded.own_task ? loaded.own_parameters : Complete(info, nlohmann::json::object());
  loaded.parameters.update(ParseTaskParameters(info, assignments));
  loaded.task = MakeTask(name, loaded.parameters);
  return loaded;
}

}  // namespace lrnn::cli
