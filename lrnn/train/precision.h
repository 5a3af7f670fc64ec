// How linear layers compute: in single precision, or with their inputs, weights and outputs, and the delta rule's beta,
// rounded to bf16 as torch's autocast has it (ops/linear.h). States are of single precision in both.
#pragma once

#include <optional>
#include <string_view>

namespace lrnn {

enum class Precision { kFloat32, kBfloat16 };

constexpr const char* Name(Precision precision) { return precision == Precision::kFloat32 ? "fp32" : "bf16"; }

// Of a Name(); nothing for other words.
inline std::optional<Precision> PrecisionNamed(std::string_view name) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
    if (Name(precision) == name) return precision;
  }
  return std::nullopt;
}

}  // namespace lrnn
