// JSON files: strict reading with the place of an error, atomic writing.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lrnn {

// Parses JSON text. Errors start with `source:line:column`; a key that occurs twice in an object and nesting deeper
// than 64 are errors too.
nlohmann::json ParseJson(std::string_view text, std::string_view source);

nlohmann::json ReadJson(const std::filesystem::path& path);

// Replaces the file atomically; indented by two spaces, with a final newline. Numbers that are not finite become null.
void WriteJson(const std::filesystem::path& path, const nlohmann::json& value);

}  // namespace lrnn
