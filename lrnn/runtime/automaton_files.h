// Compiled automata on disk: a model directory (lrnn/io/model_directory.h) of model_type "lrnn_automaton".
//
//   config.json         "format_version": 1, "vocab_size" and "lrnn.symbols": the letters, "num_states", "start",
//                       "accepting", "output", "mode", "keys", "allow_neg_eigval", and "levels", each with its kind,
//                       labels, delay, contexts, actions and "layers": symbols, n_h, K, copies
//   model.safetensors   transitions            [letters, states]           I32
//                       first_context          [letters]                   I32
//                       levels.0.actions       [actions, labels]           I32, and .action_of [contexts],
//                                              .next [contexts, labels], .codes [labels, points]
//                       levels.0.layers.0.k    [symbols, n_h, K]           F32, and .beta, .v [symbols, n_h]
//                       proof.*                                            I32
//
// Fields and tables are those of lrnn/runtime/automaton_network.h; in mode jit there are only the transitions.
#pragma once

#include <filesystem>
#include <string_view>

#include "lrnn/io/model_directory.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

inline constexpr std::string_view kAutomatonModelType = "lrnn_automaton";

// Whether the directory's config.json says so.
bool IsAutomaton(const ModelDirectory& model);

void WriteAutomaton(const std::filesystem::path& path, const AutomatonNetwork& network);

// Every field, shape and entry is checked; an Error names the file and what is wrong.
AutomatonNetwork ReadAutomaton(const ModelDirectory& model);

}  // namespace lrnn
