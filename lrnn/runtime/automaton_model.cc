#include "lrnn/runtime/automaton_model.h"

#include <algorithm>

#include "lrnn/base/error.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn {

AutomatonSession::AutomatonSession(std::shared_ptr<const AutomatonNetwork> network,
                                   std::shared_ptr<const AutomatonStepper<float>> stepper)
    : network_(std::move(network)), stepper_(std::move(stepper)), S_(stepper_->StateSize()) {
  Reset();
}

void AutomatonSession::Reset() {
  std::fill(S_.begin(), S_.end(), 0.0f);
  state_ = network_->dfa.start;
}

int AutomatonSession::Step(int32_t letter) {
  CheckLetter("Step", letter);
  const int state = stepper_->Step(letter, S_.data());
  CheckState("Step", state);
  return state_ = state;
}

void AutomatonSession::Run(std::span<const int> letters, std::span<int> states) {
  LRNN_CHECK(letters.size() == states.size(), "[AutomatonSession::Run] expected room for {} states, got {}",
             letters.size(), states.size());
  for (const int letter : letters) CheckLetter("Run", letter);
  stepper_->Run(letters, S_.data(), states.data());
  for (const int state : states) CheckState("Run", state);
  if (!states.empty()) state_ = states.back();
}

void AutomatonSession::CheckLetter(const char* function, int32_t letter) const {
  const int letters = network_->dfa.num_letters();
  LRNN_CHECK(letter >= 0 && letter < letters, "[AutomatonSession::{}] expected a letter in 0 .. {}, got {}", function,
             letters - 1, letter);
}

void AutomatonSession::CheckState(const char* function, int state) const {
  if (state >= 0 && state < network_->dfa.num_states) return;
  throw Failure(
      fmt::format("[AutomatonSession::{}] the layers hold no state of the automaton: the weights are wrong, or "
                  "rounding has gone too far (`lrnn certify` tells)",
                  function));
}

AutomatonModel::AutomatonModel(AutomatonNetwork network)
    : network_(std::make_shared<const AutomatonNetwork>(std::move(network))),
      stepper_(MakeStepper<float>(*network_)),
      vocabulary_(network_->dfa.letters, network_->dfa.num_letters()) {}

AutomatonModel AutomatonModel::Load(const std::filesystem::path& path) {
  return AutomatonModel(ReadAutomaton(ModelDirectory::Open(path)));
}

}  // namespace lrnn
