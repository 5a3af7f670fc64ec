// The bundled page with its three places filled. What comes from runs is data, never markup.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lrnn {

// `table` is for readers without scripts; `data` says what it is in its field "format".
std::string RenderPage(const std::string& title, const std::string& table, const nlohmann::json& data);

}  // namespace lrnn
