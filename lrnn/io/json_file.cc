#include "lrnn/io/json_file.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"

namespace lrnn {
namespace {

constexpr int kMaxDepth = 64;

// "line:column" of a byte, both counted from 1.
std::string Position(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const size_t newline = before.rfind('\n');
  const size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return fmt::format("{}:{}", std::count(before.begin(), before.end(), '\n') + 1, column);
}

// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..." from "syntax error" on.
std::string_view WithoutPrefix(std::string_view message) {
  if (const size_t end = message.find("] "); end != std::string_view::npos) message.remove_prefix(end + 2);
  if (message.starts_with("parse error at")) message.remove_prefix(message.find(": ") + 2);
  return message;
}

}  // namespace

nlohmann::json ParseJson(std::string_view text, std::string_view source) {
  using nlohmann::json;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&](int depth, json::parse_event_t event, json& value) {
    switch (event) {
      case json::parse_event_t::object_start:
        keys.emplace_back();
        [[fallthrough]];
      case json::parse_event_t::array_start:
        LRNN_CHECK(depth < kMaxDepth, "{}: invalid JSON: nested deeper than {}", source, kMaxDepth);
        break;
      case json::parse_event_t::object_end:
        keys.pop_back();
        break;
      case json::parse_event_t::key: {
        const auto& key = value.get_ref<const std::string&>();
        LRNN_CHECK(keys.back().insert(key).second, "{}: invalid JSON: the key \"{}\" occurs twice", source, key);
        break;
      }
      default:
        break;
    }
    return true;
  };
  // The parser takes a zero byte for the end of the text.
  const size_t zero = text.find('\0');
  LRNN_CHECK(zero == std::string_view::npos, "{}:{}: invalid JSON: a zero byte", source, Position(text, zero));
  try {
    return json::parse(text, check);
  } catch (const json::parse_error& error) {
    const size_t byte = std::min(std::max<size_t>(error.byte, 1) - 1, text.size());
    Fail("{}:{}: invalid JSON: {}", source, Position(text, byte), WithoutPrefix(error.what()));
  } catch (const json::exception& error) {  // a number that no double can hold
    Fail("{}: invalid JSON: {}", source, WithoutPrefix(error.what()));
  }
}

nlohmann::json ReadJson(const std::filesystem::path& path) { return ParseJson(ReadFile(path), path.string()); }

void WriteJson(const std::filesystem::path& path, const nlohmann::json& value) {
  std::string text;
  try {
    text = value.dump(2);
  } catch (const nlohmann::json::exception& error) {
    Fail("{}: cannot write as JSON: {}", path.string(), WithoutPrefix(error.what()));
  }
  WriteFileAtomically(path, text + "\n");
}

}  // namespace lrnn
