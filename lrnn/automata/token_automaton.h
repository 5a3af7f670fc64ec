// An automaton as a sequence model sees it: its letters are tokens to read, its states are tokens to answer with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lrnn/automata/dfa.h"

namespace lrnn {

struct TokenAutomaton {
  Dfa dfa;
  std::vector<int32_t> opening;  // read before the first letter, such as <bos>
  std::vector<int32_t> tokens;   // [letter]
  std::vector<int32_t> answers;  // [state]: what to predict after a word that leads to it
};

// The automaton with the fewest states that gives the same answer to every word; states with one answer must agree in
// being accepting.
struct MinimalAnswers {
  TokenAutomaton automaton;
  std::vector<int> state_of;  // [old state]: where it went, -1 when it cannot be reached
};
MinimalAnswers MinimiseAnswers(const TokenAutomaton& automaton);

// A shortest word to which two automata of the same letters answer differently.
struct AnswerDifference {
  std::vector<int> word;  // letters of the first
  int32_t first;          // its answer
  int32_t second;
};
std::optional<AnswerDifference> CompareAnswers(const TokenAutomaton& first, const TokenAutomaton& second);

}  // namespace lrnn
