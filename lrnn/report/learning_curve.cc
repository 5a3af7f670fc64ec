#include "lrnn/report/learning_curve.h"

#include <fmt/format.h>

#include <vector>

#include "lrnn/io/fields.h"
#include "lrnn/io/metrics_log.h"
#include "lrnn/report/field_checks.h"

namespace lrnn {
namespace {

constexpr size_t kMaxPoints = 300;

nlohmann::json Thin(const std::vector<nlohmann::json>& points) {
  const size_t window = (points.size() + kMaxPoints - 1) / kMaxPoints;
  nlohmann::json thin = nlohmann::json::array();
  for (size_t begin = 0; begin < points.size(); begin += window) {
    const size_t end = std::min(begin + window, points.size());
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += points[i]["loss"].get<double>();
    thin.push_back({{"step", points[end - 1]["step"]}, {"loss", sum / static_cast<double>(end - begin)}});
  }
  return thin;
}

// Written as null because it was not finite, which is not the same as not written.
bool IsNull(const Fields& line, const char* name) { return line.json().contains(name) && !line.Has(name); }

}  // namespace

nlohmann::json LearningCurve(const std::filesystem::path& metrics_path) {
  std::vector<nlohmann::json> train;
  nlohmann::json validation = nlohmann::json::array();
  if (std::filesystem::exists(metrics_path)) {
    size_t number = 0;
    for (const nlohmann::json& object : ReadMetrics(metrics_path)) {
      const Fields line(object, fmt::format("{}:{}", metrics_path.string(), ++number));
      const std::string kind = line.String("kind");
      if (kind == "train") {
        if (IsNull(line, "loss")) continue;
        train.push_back({{"step", NonNegativeInt(line, "step")}, {"loss", line.Double("loss")}});
      } else if (kind == "eval") {
        if (IsNull(line, "scaled_accuracy")) continue;
        validation.push_back({{"step", NonNegativeInt(line, "step")},
                              {"scaled_accuracy", line.Double("scaled_accuracy")},
                              {"low", line.Double("low")},
                              {"high", line.Double("high")}});
      }
    }
  }
  return {{"train", Thin(train)}, {"validation", validation}};
}

}  // namespace lrnn
