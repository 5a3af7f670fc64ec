#include "lrnn/tasks/binary_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>

#include "lrnn/tasks/question.h"

namespace lrnn {
namespace {

enum Token : int32_t { kZero, kOne, kOperator, kEnd };

constexpr int64_t kLongestProduct = 1 << 14;  // the time of products and roots grows with the square of the length

using Bits = std::vector<int32_t>;  // the lowest first

// Uniform over 1 .. 2^size - 1.
Bits DrawNumber(int64_t size, Rng& rng) {
  Bits bits(size);
  do {
    for (int32_t& bit : bits) bit = static_cast<int32_t>(rng.Below(2));
  } while (std::find(bits.begin(), bits.end(), 1) == bits.end());
  return bits;
}

void DropZeros(Bits& bits) {
  while (!bits.empty() && bits.back() == 0) bits.pop_back();
}

Bits Add(const Bits& a, const Bits& b) {
  Bits sum(std::max(a.size(), b.size()) + 1);
  int32_t carry = 0;
  for (size_t i = 0; i < sum.size(); ++i) {
    carry += (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0);
    sum[i] = carry % 2;
    carry /= 2;
  }
  return sum;
}

Bits Multiply(const Bits& a, const Bits& b) {
  Bits product(a.size() + b.size());  // first column sums, then bits
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0) continue;
    for (size_t j = 0; j < b.size(); ++j) product[i + j] += b[j];
  }
  int32_t carry = 0;
  for (int32_t& bit : product) {
    carry += bit;
    bit = carry % 2;
    carry /= 2;
  }
  return product;
}

// The digit-by-digit method, on numbers with the highest bit first: two bits of `number` come down at a time, and the
// next bit of the root is 1 when the remainder is at least 4 root + 1.
Bits Root(const Bits& number) {
  Bits padded = number;
  if (padded.size() % 2 == 1) padded.insert(padded.begin(), 0);
  Bits root, remainder;  // the highest bit first, the remainder without leading zeros
  for (size_t i = 0; i < padded.size(); i += 2) {
    for (int32_t bit : {padded[i], padded[i + 1]}) {
      if (!remainder.empty() || bit) remainder.push_back(bit);
    }
    Bits trial = root;  // 4 root + 1
    trial.insert(trial.end(), {0, 1});
    trial.erase(trial.begin(), std::find(trial.begin(), trial.end(), 1));
    const bool fits = remainder.size() != trial.size() ? remainder.size() > trial.size() : remainder >= trial;
    root.push_back(fits);
    if (!fits) continue;
    int32_t borrow = 0;
    for (size_t j = 0; j < remainder.size(); ++j) {
      int32_t& digit = remainder[remainder.size() - 1 - j];
      digit -= borrow + (j < trial.size() ? trial[trial.size() - 1 - j] : 0);
      borrow = digit < 0;
      digit += 2 * borrow;
    }
    remainder.erase(remainder.begin(), std::find(remainder.begin(), remainder.end(), 1));
  }
  return root;
}

// For at most 63 bits.
int64_t Value(const Bits& bits) {
  int64_t value = 0;
  for (size_t i = 0; i < bits.size(); ++i) value |= int64_t{bits[i]} << i;
  return value;
}

TaskInfo BinaryOperation(const std::string& name, const std::string& summary, const std::string& symbol,
                         int64_t max_length, int64_t slots_more, Bits (*operation)(const Bits&, const Bits&)) {
  const auto draw = [operation](int64_t length, Rng& rng) {
    const int64_t size = rng.Between(1, length - 2);
    const Bits a = DrawNumber(size, rng), b = DrawNumber(length - 1 - size, rng);
    Question question{a, operation(a, b)};
    question.tokens.push_back(kOperator);
    question.tokens.insert(question.tokens.end(), b.begin(), b.end());
    DropZeros(question.answer);
    question.answer.push_back(kEnd);
    return question;
  };
  const auto explain = [symbol, operation](std::span<const int32_t> question) -> std::string {
    if (question.size() > 63) return "";
    const auto at = std::find(question.begin(), question.end(), kOperator);
    const Bits a(question.begin(), at), b(at + 1, question.end());
    return fmt::format("{} {} {} = {}", Value(a), symbol, Value(b), Value(operation(a, b)));
  };
  const auto make = [=](const TaskParameters&) {
    return MakeQuestionTask({.name = name,
                             .symbols = {"0", "1", symbol, "<end>"},
                             .chance = 0.5,
                             .min_length = 3,
                             .max_length = max_length,
                             .slots = [slots_more](int64_t length) { return length + slots_more; },
                             .draw = draw,
                             .explain = explain});
  };
  return {name, summary, {}, make};
}

std::string ExplainRoot(std::span<const int32_t> question) {
  if (question.size() > 63) return "";
  const Bits number(question.begin(), question.end());
  const auto value = [](const Bits& highest_first) {
    return Value(Bits(highest_first.rbegin(), highest_first.rend()));
  };
  return fmt::format("the root of {} is {}, rounded down", value(number), value(Root(number)));
}

}  // namespace

TaskInfo BinaryAdditionInfo() {
  return BinaryOperation("binary_addition", "the sum of two binary numbers, the lowest bit first", "+",
                         kLongestQuestion, 1, Add);
}

TaskInfo BinaryMultiplicationInfo() {
  return BinaryOperation("binary_multiplication", "the product of two binary numbers, the lowest bit first", "*",
                         kLongestProduct, 0, Multiply);
}

TaskInfo ComputeSqrtInfo() {
  return {"compute_sqrt", "the square root of a binary number, rounded down", {}, [](const TaskParameters&) {
            return MakeQuestionTask({.name = "compute_sqrt",
                                     .symbols = {"0", "1"},
                                     .chance = 0.5,
                                     .max_length = kLongestProduct,
                                     .slots = [](int64_t length) { return (length + 1) / 2; },
                                     .draw =
                                         [](int64_t length, Rng& rng) {
                                           const Bits number = DrawNumber(length, rng);  // the highest bit first
                                           return Question{number, Root(number)};
                                         },
                                     .explain = ExplainRoot});
          }};
}

}  // namespace lrnn
