// metrics.jsonl as curves for a figure.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace lrnn {

// {"train": [{step, loss}...], "validation": [{step, scaled_accuracy, low, high}...]}; both are empty when there is no
// file. The training curve has at most 300 points: of longer ones, means over windows of neighbouring lines, at the
// last step of the window. Values that were not finite (null in the log) are left out.
nlohmann::json LearningCurve(const std::filesystem::path& metrics_path);

}  // namespace lrnn
