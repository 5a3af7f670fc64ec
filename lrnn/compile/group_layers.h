// A group as one level of one layer.
#pragma once

#include <vector>

#include "lrnn/compile/decomposition.h"
#include "lrnn/compile/group_representation.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

struct GroupLevel {
  AutomatonLevel level;
  std::vector<int> first_context;  // [letter]
  CascadeProof proof;
};

// The labels are the elements of the group; the layer permutes points (kind `points`).
GroupLevel BuildPoints(const Dfa& dfa, const LetterGroup& group, const PointAction& action, KeyStyle keys);

// The labels are the powers of a generator; the layer turns a plane by two reflections a letter (kind `rotation`). Its
// weights are rounded: never exact, right for a long time in fp32 and for a short one in bf16.
GroupLevel BuildRotation(const Dfa& dfa, const LetterGroup& group, const std::vector<int>& power_of);

}  // namespace lrnn
