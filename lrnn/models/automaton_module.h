// A compiled automaton as a torch module: its layers go through the delta rule of trained models, its tables are
// look-ups (lrnn/runtime/automaton_network.h says what they hold).
//
//   AutomatonModule module = LoadAutomatonModule("models/ab_star");
//   torch::Tensor logits = module->forward(letters, ops::Sequences::Single(letters.size(0)));
//
// A layer's state has one column and its decoder reads all K numbers of it, so K heads with the same keys read one
// each. Nothing is trained: all tables are buffers, and move to another device with the module.
#pragma once

#include <filesystem>
#include <vector>

#include "lrnn/ops/sequences.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

class AutomatonModuleImpl : public torch::nn::Module {
 public:
  // A valid network with tables; an Error refuses mode jit, which has none.
  explicit AutomatonModuleImpl(const AutomatonNetwork& network);

  // letters: int64 [T]. The state of the automaton after each, int64 [T], decoded from the layers.
  torch::Tensor States(const torch::Tensor& letters, const ops::Sequences& sequences);

  // [T, num_states] where the model answers with states, else [T, 2] for reject and accept: 1 for the answer, 0 for the
  // others.
  torch::Tensor forward(const torch::Tensor& letters, const ops::Sequences& sequences);

 private:
  struct Layer {
    torch::Tensor k, beta, v;  // [symbols, n_h, K], [symbols, n_h], [symbols, n_h]
    torch::Tensor initial;     // H_0: [coordinates]
    int64_t copies;
  };
  struct Level {
    LevelKind kind;
    int64_t labels;
    bool delay;
    torch::Tensor action_of;  // [contexts]
    torch::Tensor reset_to;   // [actions]: the label, -1 for permutations
    torch::Tensor next;       // [contexts, labels]: by the label that is read
    torch::Tensor codes;      // [labels, points], of kind points
    std::vector<Layer> layers;
  };

  torch::Tensor Content(const Layer& layer, const torch::Tensor& symbols, const ops::Sequences& sequences) const;
  torch::Tensor ReadLabel(const Level& level, const torch::Tensor& action, const ops::Sequences& sequences) const;

  bool outputs_states_;
  double delayed_scale_;
  int64_t num_states_;
  torch::Tensor first_context_;  // [letters]
  torch::Tensor accepting_;      // [states]
  std::vector<Level> levels_;
};
TORCH_MODULE(AutomatonModule);

AutomatonModule LoadAutomatonModule(const std::filesystem::path& directory);

}  // namespace lrnn
