// The recurrent form of a layer: one token in, one token out, all memory of the past in a state of fixed size (softmax
// attention alone has one that grows).
//
// A mixer holds the weights and is shared by all sessions; state and scratch belong to the session.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lrnn {

class RuntimeMixer {
 public:
  virtual ~RuntimeMixer() = default;

  // In floats. The scratch is what Step needs besides; its content means nothing before and after.
  virtual int64_t StateSize() const = 0;
  virtual int64_t ScratchSize() const = 0;

  // Floats that the state gains with each token, at its end and just before the Step that takes the token; what they
  // hold then means nothing. A layer that needs to know how many tokens it saw counts them in its state.
  virtual int64_t StateGrowth() const { return 0; }

  // The state before the first token: zeros unless a layer says otherwise.
  virtual void InitState(float* state) const { std::fill_n(state, StateSize(), 0.0f); }

  // x, y: [D]. Reads and updates the state. Allocates nothing itself (a kernel may, for its own scratch).
  virtual void Step(const float* x, float* state, float* scratch, float* y) const = 0;

  // What the session calls. A layer that looks at the token itself does its step here; to all others x is enough.
  virtual void StepToken(int32_t /*token*/, const float* x, float* state, float* scratch, float* y) const {
    Step(x, state, scratch, y);
  }
};

// The boundaries of one sequence of one token, what the kernels see of a step.
inline constexpr int32_t kOneToken[2] = {0, 1};

}  // namespace lrnn
