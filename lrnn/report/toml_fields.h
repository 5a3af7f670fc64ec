// TOML as the fields of a JSON object, so that both kinds of file are read with the same checks and messages.
#pragma once

#include <string>

#include "lrnn/io/fields.h"

namespace lrnn {

// An Error of the syntax starts with `source:line:column`.
Fields ParseTomlFields(const std::string& text, const std::string& source);

}  // namespace lrnn
