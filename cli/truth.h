// What a model should answer: its task, and the automaton behind it.
#pragma once

#include <memory>
#include <string>

#include "lrnn/automata/token_automaton.h"
#include "lrnn/io/fields.h"
#include "lrnn/tasks/task.h"

namespace lrnn::cli {

// The task that the config.json says the model was trained for. `model` is how the user named it, for the Error.
std::shared_ptr<const Task> TaskOf(const Fields& config, const std::string& model);

// The automaton of a task, with the tokens for letters that its examples are made of. An Error when it has none.
TokenAutomaton TruthOf(const Task& task);

// The automaton `wanted` for a model: its letters by their names among the model's symbols, its answers <reject> and
// <accept>, or where the model has no such symbols those of the automaton of its task. `source` is named in Errors.
TokenAutomaton TruthOf(const Dfa& wanted, const Fields& config, const std::string& source);

}  // namespace lrnn::cli
