#include "lrnn/report/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace lrnn {
namespace {

std::string ThreeDecimals(double value) {
  const std::string text = fmt::format("{:.3f}", value);
  return text == "-0.000" ? "0.000" : text;
}

}  // namespace

std::string CountText(int64_t n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string LengthsText(const nlohmann::json& lengths) {
  const int64_t low = lengths.at(0), high = lengths.at(1);
  return low == high ? CountText(low) : fmt::format("{} to {}", CountText(low), CountText(high));
}

std::string AccuracyText(double value) {
  if (value >= 1 || value < 0.9995) return ThreeDecimals(value);
  for (int digits = 3; digits < 6; ++digits) {
    const std::string text = fmt::format("{:.{}f}", value, digits);
    if (text[0] == '0') return text;
  }
  return "0.99999";
}

std::string IntervalText(double low, double high) {
  // 1e-9: what is 0.25 but for rounding stays 0.25.
  const double down = std::floor(low * 1000 + 1e-9) / 1000;
  const double up = std::ceil(high * 1000 - 1e-9) / 1000;
  return fmt::format("({}, {})", ThreeDecimals(down), ThreeDecimals(up));
}

}  // namespace lrnn
