#include "lrnn/tasks/string_tasks.h"

#include <algorithm>

#include "lrnn/tasks/question.h"

namespace lrnn {
namespace {

using String = std::vector<int32_t>;

// A task whose answer is `rearrange` of a string, `copies` times as long.
TaskInfo StringTask(std::string name, std::string summary, int alphabet, int64_t copies, String (*rearrange)(String)) {
  const auto make = [name, copies, rearrange](const TaskParameters& parameters) {
    const int64_t size = parameters.Int("alphabet", 2, 1000);
    std::vector<std::string> symbols;
    for (int64_t i = 0; i < size; ++i) symbols.push_back(std::to_string(i));
    return MakeQuestionTask({.name = name,
                             .symbols = symbols,
                             .chance = 1.0 / static_cast<double>(size),
                             .slots = [copies](int64_t length) { return copies * length; },
                             .draw =
                                 [size, rearrange](int64_t length, Rng& rng) {
                                   String string(length);
                                   for (int32_t& symbol : string) {
                                     symbol = static_cast<int32_t>(rng.Below(static_cast<uint32_t>(size)));
                                   }
                                   return Question{string, rearrange(string)};
                                 }});
  };
  return {std::move(name), std::move(summary), {{"alphabet", alphabet, "how many different symbols"}}, make};
}

String Reverse(String string) {
  std::reverse(string.begin(), string.end());
  return string;
}

String Duplicate(String string) {
  const size_t size = string.size();
  string.resize(2 * size);
  std::copy_n(string.begin(), size, string.begin() + static_cast<int64_t>(size));
  return string;
}

String OddsFirst(String string) {
  String result;
  for (size_t first : {0, 1}) {
    for (size_t i = first; i < string.size(); i += 2) result.push_back(string[i]);
  }
  return result;
}

String Sort(String string) {
  std::sort(string.begin(), string.end());
  return string;
}

}  // namespace

TaskInfo ReverseStringInfo() { return StringTask("reverse_string", "a string backwards", 2, 1, Reverse); }
TaskInfo DuplicateStringInfo() { return StringTask("duplicate_string", "a string twice", 2, 2, Duplicate); }
TaskInfo OddsFirstInfo() {
  return StringTask("odds_first", "the symbols at odd places (1st, 3rd, ...), then the others", 2, 1, OddsFirst);
}
TaskInfo BucketSortInfo() { return StringTask("bucket_sort", "the symbols in ascending order", 5, 1, Sort); }

}  // namespace lrnn
