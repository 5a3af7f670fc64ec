// Numbers as text for people; web/src/format.js does the same on the page.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace lrnn {

// 100,000
std::string CountText(int64_t n);

// [40, 256] -> "40 to 256"; [100000, 100000] -> "100,000"
std::string LengthsText(const nlohmann::json& lengths);

// Three decimals, as in the paper; more where three would call an imperfect result "1.000".
std::string AccuracyText(double value);

// "(0.999, 1.000)". Bounds are rounded outwards: an interval is never shown narrower than it is.
std::string IntervalText(double low, double high);

}  // namespace lrnn
