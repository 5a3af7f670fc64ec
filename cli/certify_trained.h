// lrnn certify on a trained model.
#pragma once

#include <string>

#include "lrnn/automata/token_automaton.h"
#include "lrnn/compile/certify_model.h"

namespace lrnn::cli {

struct CertifyTrainedOptions {
  std::string model;  // a run or a model directory
  std::string dfa;    // the truth: one of these, or that of the task
  std::string regex;
  int64_t max_nodes = ModelSearchLimits().max_nodes;
  bool json = false;
};

// Prints what was found. A Failure when it is not proved.
void CertifyTrained(const CertifyTrainedOptions& options);

// "right on words of every length", "wrong on the word ...", "right on all words up to ...".
std::string Verdict(const ModelCertificate& certificate, const TokenAutomaton& truth, const Vocabulary& vocabulary);

// The letters of a word with blanks between.
std::string Spell(const Dfa& dfa, const std::vector<int>& word);

}  // namespace lrnn::cli
