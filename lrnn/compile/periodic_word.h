// Why an automaton is not aperiodic: a word that moves some states in a cycle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lrnn/automata/dfa.h"

namespace lrnn {

struct PeriodicWord {
  std::vector<int> word;
  std::vector<int> cycle;  // two or more states: the word takes each to the next and the last to the first
};

// A letter that by itself moves states in a cycle, if there is one.
std::optional<PeriodicWord> FindPeriodicLetter(const Dfa& dfa);

// A shortest word that permutes `states` and fixes not all of them. Nothing when there is none, or none among the first
// max_tuples arrangements that words make of the states.
std::optional<PeriodicWord> FindPeriodicWord(const Dfa& dfa, const std::vector<int>& states,
                                             int64_t max_tuples = 20'000);

// "the word 'ab' takes state 0 to 1 to 0"; long words and cycles are cut.
std::string Describe(const PeriodicWord& found, const Dfa& dfa);

}  // namespace lrnn
