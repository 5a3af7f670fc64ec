// An automaton as a picture.
#pragma once

#include <string>
#include <string_view>

#include "lrnn/automata/dfa.h"

namespace lrnn {

// A Graphviz graph (`dot -Tsvg`): accepting states are double circles, an arrow from nowhere marks the start, letters
// that lead from one state to the same other share an arrow.
std::string ToDot(const Dfa& dfa, std::string_view name = "automaton");

}  // namespace lrnn
