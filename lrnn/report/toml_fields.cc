#include "lrnn/report/toml_fields.h"

#include <toml++/toml.h>

#include <sstream>

#include "lrnn/base/error.h"
#include "lrnn/io/json_file.h"

namespace lrnn {

Fields ParseTomlFields(const std::string& text, const std::string& source) {
  try {
    std::ostringstream json;
    const toml::table table = toml::parse(text);
    json << toml::json_formatter(table);
    return Fields(ParseJson(json.str(), source), source);
  } catch (const toml::parse_error& error) {
    const toml::source_position& place = error.source().begin;
    Fail("{}:{}:{}: {}", source, place.line, place.column, error.description());
  }
}

}  // namespace lrnn
