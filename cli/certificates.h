// What `lrnn compile` and `lrnn certify` say of a compiled automaton.
#pragma once

#include <nlohmann/json.hpp>

#include "lrnn/compile/certify.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn::cli {

// Size of the automaton, then a line for each level and layer.
void PrintNetwork(const AutomatonNetwork& network);

// A line for each certificate and one for the verdict.
void PrintCertificates(const Certificates& certificates);

nlohmann::json ToJson(const AutomatonNetwork& network);
nlohmann::json ToJson(const Certificates& certificates);

}  // namespace lrnn::cli
