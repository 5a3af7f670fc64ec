#include "lrnn/train/eval_file.h"

#include <functional>

#include "lrnn/io/json_file.h"
#include "lrnn/train/evaluate.h"

namespace lrnn {
namespace {

nlohmann::json NewSection(const EvaluatedTask& task) {
  return {{"task", task.name},
          {"parameters", task.parameters},
          {"chance", task.chance},
          {"score", Name(task.score)},
          {"evaluations", nlohmann::json::array()}};
}

bool IsOf(const nlohmann::json& section, const EvaluatedTask& task) {
  return section.value("task", "") == task.name && section.value("parameters", task.parameters) == task.parameters;
}

nlohmann::json ReadOrNew(const std::filesystem::path& path, const EvaluatedTask& own) {
  nlohmann::json file = {{"format", "lrnn.eval"}, {"version", 1}};
  file.update(NewSection(own));
  if (!std::filesystem::exists(path)) return file;
  const nlohmann::json before = ReadJson(path);
  if (!IsOf(before, own)) return file;
  file.update(before);
  return file;
}

nlohmann::json& SectionOf(nlohmann::json& file, const EvaluatedTask& task) {
  if (IsOf(file, task)) return file;
  nlohmann::json& others = file["other_tasks"];
  if (others.is_null()) others = nlohmann::json::array();
  for (nlohmann::json& other : others) {
    if (IsOf(other, task)) return other;
  }
  others.push_back(NewSection(task));
  return others.back();
}

// "evaluations", or "evaluations_bf16" for a result of that precision.
std::string Key(const std::string& name, const nlohmann::json& result) {
  const std::string precision = result.at("precision");
  return precision == Name(Precision::kFloat32) ? name : name + "_" + precision;
}

void Change(const std::filesystem::path& path, const EvaluatedTask& own, const EvaluatedTask& task,
            const std::function<void(nlohmann::json& section)>& change) {
  nlohmann::json file = ReadOrNew(path, own);
  change(SectionOf(file, task));
  WriteJson(path, file);
}

}  // namespace

void KeepEvaluation(const std::filesystem::path& path, const EvaluatedTask& own, const EvaluatedTask& task,
                    const nlohmann::json& evaluation) {
  Change(path, own, task, [&](nlohmann::json& section) {
    nlohmann::json kept = nlohmann::json::array();
    nlohmann::json& list = section[Key("evaluations", evaluation)];
    for (const nlohmann::json& other : list) {
      if (other.at("lengths") != evaluation.at("lengths")) kept.push_back(other);
    }
    kept.push_back(evaluation);
    list = kept;
  });
}

void KeepHorizon(const std::filesystem::path& path, const EvaluatedTask& own, const EvaluatedTask& task,
                 const nlohmann::json& horizon) {
  Change(path, own, task, [&](nlohmann::json& section) { section[Key("horizon", horizon)] = horizon; });
}

}  // namespace lrnn
