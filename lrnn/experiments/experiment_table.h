// The results of an experiment for the terminal: a table like the paper's, its numbers beside ours.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lrnn {

// `results` as BuildResults gives them.
std::string RenderExperimentTable(const nlohmann::json& results);

}  // namespace lrnn
