#include "lrnn/runtime/automaton_network.h"

#include <algorithm>

namespace lrnn {

std::string_view Name(LevelKind kind) {
  constexpr std::string_view kNames[] = {"fixed",         "slot",  "sign",   "one_hot",
                                         "permuted_slot", "joint", "points", "rotation"};
  return kNames[static_cast<int>(kind)];
}

std::string_view Name(KeyStyle keys) {
  constexpr std::string_view kNames[] = {"exact", "dup", "unit"};
  return kNames[static_cast<int>(keys)];
}

bool CascadeTables::IsReset(int action) const {
  const std::vector<int>& map = actions[action];
  return labels > 1 && std::all_of(map.begin(), map.end(), [&](int label) { return label == map[0]; });
}

bool CascadeTables::NextIsConstant(int context) const {
  const std::vector<int>& row = next[context];
  return std::all_of(row.begin(), row.end(), [&](int to) { return to == row[0]; });
}

bool CascadeTables::NeedsDelay() const {
  for (int context = 0; context < contexts(); ++context) {
    if (IsReset(action_of[context]) && !NextIsConstant(context)) return true;
  }
  return false;
}

}  // namespace lrnn
