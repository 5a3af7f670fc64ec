// JSON files: strict reading with the place of an error, atomic writing.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lrnn {

// Parses JSON text. Errors start with `source:line:column`, or `source` alone when the text is well-formed and wrong
// all the same: a key twice in an object, nesting deeper than 64, a number that no double can hold.
nlohmann::json ParseJson(std::string_view text, std::string_view source);

nlohmann::json ReadJson(const std::filesystem::path& path);

// Replaces the file atomically; indented by two spaces, with a final newline. Numbers that are not finite become null.
void WriteJson(const std::filesystem::path& path, const nlohmann::json& value);

}  // namespace lrnn
