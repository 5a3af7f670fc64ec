// A trained or compiled model, run token by token without torch: embedding, blocks, head.
//
//   const RuntimeModel model = RuntimeModel::Load("models/parity");
//   const std::unique_ptr<Session> session = model.NewSession();
//   for (int32_t token : model.vocabulary().Parse("1011")) logits = session->Step(token);
//
// A step costs the same however long the stream is: the whole past is in a state of fixed size. (In a model with
// softmax attention the state grows with every token, and a step costs what was seen so far.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "lrnn/runtime/vocabulary.h"

namespace lrnn {

struct RuntimeNetwork;  // the weights

// One stream of tokens. Sessions of a model share its weights and may run on different threads.
class Session {
 public:
  explicit Session(std::shared_ptr<const RuntimeNetwork> network);

  // Back to the state before the first token.
  void Reset();

  // Takes a token and gives the logits [vocab_size] of what comes next; they are overwritten by the next call.
  std::span<const float> Step(int32_t token);

  size_t StateBytes() const;

  // All that it remembers, as numbers one after the other, and back to what was saved. Sessions of one model may
  // exchange it. An Error when the model's state grows with every token.
  void SaveState(std::vector<float>& state) const;
  void LoadState(std::span<const float> state);

 private:
  std::shared_ptr<const RuntimeNetwork> network_;
  std::vector<std::vector<float>> states_;  // one for each sublayer
  std::vector<float> x_, normed_, mixed_;   // [D]
  std::vector<float> scratch_;
  std::vector<float> logits_;
};

class RuntimeModel {
 public:
  // Reads a model directory of a known model_type. An Error names what is missing, of another shape or not supported.
  static RuntimeModel Load(const std::filesystem::path& path);

  int64_t vocab_size() const;
  const Vocabulary& vocabulary() const;

  // The session keeps the weights alive.
  std::unique_ptr<Session> NewSession() const { return std::make_unique<Session>(network_); }

 private:
  explicit RuntimeModel(std::shared_ptr<const RuntimeNetwork> network) : network_(std::move(network)) {}

  std::shared_ptr<const RuntimeNetwork> network_;
};

}  // namespace lrnn
