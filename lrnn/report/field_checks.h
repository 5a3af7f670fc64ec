// Checks that the readers of a run's files share. All throw an Error with the file and the field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/io/fields.h"

namespace lrnn {

// "format" and "version" must be these.
void CheckFormat(const Fields& fields, std::string_view format, int64_t version);

// The field "task" must name the task of the run.
void CheckTask(const Fields& fields, std::string_view task);

int64_t NonNegativeInt(const Fields& fields, std::string_view name);
double NonNegative(const Fields& fields, std::string_view name);

// [low, high] with 1 <= low <= high.
nlohmann::json LengthRange(const Fields& fields, std::string_view name);

// A list of finite numbers.
std::vector<double> Numbers(const Fields& fields, std::string_view name);

// The objects of a list; their errors say `source: name[i]: field ...`.
std::vector<Fields> Objects(const Fields& fields, std::string_view name);

}  // namespace lrnn
