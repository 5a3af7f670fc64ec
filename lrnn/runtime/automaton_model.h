// A compiled automaton, run token by token.
//
//   const AutomatonModel model = AutomatonModel::Load("models/ab_star");
//   AutomatonSession session = model.NewSession();
//   for (int32_t letter : model.vocabulary().Parse("abab")) session.Step(letter);
//   session.accepting();
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "lrnn/runtime/automaton_network.h"
#include "lrnn/runtime/automaton_stepper.h"
#include "lrnn/runtime/vocabulary.h"

namespace lrnn {

// One stream of letters, in float. Sessions of a model share its weights and may run on different threads.
class AutomatonSession {
 public:
  AutomatonSession(std::shared_ptr<const AutomatonNetwork> network,
                   std::shared_ptr<const AutomatonStepper<float>> stepper);

  // Back to the state before the first letter.
  void Reset();

  // Takes a letter and gives the state after it.
  int Step(int32_t letter);

  // Takes many: states[t] is the state after letters[t]. Faster than Step after Step.
  void Run(std::span<const int> letters, std::span<int> states);

  int state() const { return state_; }
  bool accepting() const { return network_->dfa.accepting[state_]; }
  size_t StateBytes() const { return S_.size() * sizeof(float); }

 private:
  void CheckLetter(const char* function, int32_t letter) const;
  void CheckState(const char* function, int state) const;

  std::shared_ptr<const AutomatonNetwork> network_;
  std::shared_ptr<const AutomatonStepper<float>> stepper_;
  std::vector<float> S_;
  int state_;
};

class AutomatonModel {
 public:
  explicit AutomatonModel(AutomatonNetwork network);

  static AutomatonModel Load(const std::filesystem::path& path);

  const AutomatonNetwork& network() const { return *network_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // The session keeps the weights alive.
  AutomatonSession NewSession() const { return AutomatonSession(network_, stepper_); }

 private:
  std::shared_ptr<const AutomatonNetwork> network_;
  std::shared_ptr<const AutomatonStepper<float>> stepper_;
  Vocabulary vocabulary_;
};

}  // namespace lrnn
