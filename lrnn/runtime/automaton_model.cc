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
  const int letters = network_->dfa.num_letters();
  LRNN_CHECK(letter >= 0 && letter < letters, "[AutomatonSession::Step] expected a letter in 0 .. {}, got {}",
             letters - 1, letter);
  const int state = stepper_->Step(letter, S_.data());
  if (state < 0 || state >= network_->dfa.num_states) {
    throw Failure(
        "[AutomatonSession::Step] the layers hold no state of the automaton: the weights are wrong, or "
        "rounding has gone too far (`lrnn certify` tells)");
  }
  return state_ = state;
}

AutomatonModel::AutomatonModel(AutomatonNetwork network)
    : network_(std::make_shared<const AutomatonNetwork>(std::move(network))),
      stepper_(MakeStepper<float>(*network_)),
      vocabulary_(network_->dfa.letters, network_->dfa.num_letters()) {}

AutomatonModel AutomatonModel::Load(const std::filesystem::path& path) {
  return AutomatonModel(ReadAutomaton(ModelDirectory::Open(path)));
}

}  // namespace lrnn
