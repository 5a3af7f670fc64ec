// Compiled automata are made of the layers that are trained: their micro-steps through the kernel of the delta rule
// give the states that the stepper gives, bit by bit where nothing is rounded.
#include <gtest/gtest.h>

#include <vector>

#include "lrnn/automata/permutation.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/fuzz.h"
#include "lrnn/kernels/delta_rule.h"
#include "lrnn/runtime/automaton_stepper.h"

namespace lrnn {
namespace {

// The symbols that each layer of the network sees on a word, by the definition of the cascade: [layer][t].
std::vector<std::vector<int>> SymbolsOf(const AutomatonNetwork& network, const std::vector<int>& word,
                                        std::vector<int>& states) {
  std::vector<std::vector<int>> symbols;
  std::vector<int> context;
  for (const int letter : word) context.push_back(network.first_context[letter]);
  for (const AutomatonLevel& level : network.levels) {
    const CascadeTables& tables = level.tables;
    std::vector<int> actions, writes;
    int label = 0;
    std::vector<int> content = IdentityPermutation(tables.labels);  // of a permuted slot: [place]
    for (int& c : context) {
      const int action = tables.action_of[c];
      const std::vector<int>& map = tables.actions[action];
      actions.push_back(action);
      if (tables.IsReset(action)) {
        writes.push_back(1 + content[map[0]]);
      } else {
        writes.push_back(0);
        std::vector<int> moved(content.size());
        for (size_t place = 0; place < content.size(); ++place) moved[map[place]] = content[place];
        content = moved;
      }
      c = tables.next[c][label];
      label = map[label];
    }
    if (level.layers.size() > 0) symbols.push_back(actions);
    if (level.layers.size() > 1) symbols.push_back(writes);
  }
  states = context;
  return symbols;
}

// S after every token, [T, K]. The state of a layer has one column, and a head reads one number of it: K heads with the
// same keys read all.
std::vector<float> StatesByKernel(const DeltaProductTable& layer, const std::vector<int>& symbols) {
  const int64_t T = static_cast<int64_t>(symbols.size()), K = layer.K, n_h = layer.n_h, H = K;
  std::vector<float> q(T * H * K, 0.0f), k(T * n_h * H * K), v(T * n_h * H), beta(T * n_h * H), o(T * H);
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t h = 0; h < H; ++h) {
      q[(t * H + h) * K + h] = 1.0f;
      for (int64_t m = 0; m < n_h; ++m) {
        const int64_t from = symbols[t] * n_h + m, to = (t * n_h + m) * H + h;
        std::copy_n(layer.k.data() + from * K, K, k.data() + to * K);
        beta[to] = layer.beta[from];
        v[to] = layer.v[from];
      }
    }
  }
  const int32_t cu_seqlens[] = {0, static_cast<int32_t>(T)};
  const kernels::DeltaRuleShape shape{1, cu_seqlens, H, K, 1, n_h};
  const kernels::DeltaRuleInputs<float> inputs{q.data(), k.data(), v.data(), beta.data(), nullptr, nullptr, 1.0f};
  kernels::DeltaRuleForward(shape, inputs, o.data(), nullptr, {nullptr, nullptr}, 1);
  return o;
}

TEST(CompiledAutomaton, EqualsTheKernelOfTrainedModels) {
  const FuzzLimits limits;
  int64_t exact_numbers = 0, rounded_numbers = 0;
  for (uint64_t index = 0; index < 60; ++index) {
    const Dfa dfa = FuzzDfa(limits, 3, index);
    for (const FuzzTrial& trial : FuzzTrials(dfa, limits, 3, index)) {
      const AutomatonNetwork network = Compile(dfa, trial.options).network;
      if (network.is_jit()) continue;  // its layers are written as they are needed: there is no table to run
      SCOPED_TRACE(FuzzReport(dfa, 3, index, trial));
      Rng rng(11, index);
      std::vector<int> word(150);
      for (int& letter : word) letter = static_cast<int>(rng.Below(dfa.num_letters()));

      const auto stepper = MakeStepper<float>(network);
      std::vector<float> S(stepper->StateSize());
      std::vector<std::vector<float>> S_after;
      std::vector<int> states, expected;
      for (const int letter : word) {
        states.push_back(stepper->Step(letter, S.data()));
        S_after.push_back(S);
      }
      const std::vector<std::vector<int>> symbols = SymbolsOf(network, word, expected);
      ASSERT_EQ(states, expected);
      size_t number = 0, offset = 0;
      for (const AutomatonLevel& level : network.levels) {
        for (const DeltaProductTable& layer : level.layers) {
          const std::vector<float> o = StatesByKernel(layer, symbols[number++]);
          for (size_t t = 0; t < word.size(); ++t) {
            for (int row = 0; row < layer.K; ++row) {
              const float by_kernel = o[t * layer.K + row], by_stepper = S_after[t][offset + row];
              if (trial.is_exact) {
                ASSERT_EQ(by_kernel, by_stepper) << "layer " << number << ", token " << t << ", row " << row;
                ++exact_numbers;
              } else {
                ASSERT_NEAR(by_kernel, by_stepper, 1e-3) << "layer " << number << ", token " << t << ", row " << row;
                ++rounded_numbers;
              }
            }
          }
          offset += layer.K;
        }
      }
    }
  }
  EXPECT_GT(exact_numbers, 100'000);
  EXPECT_GT(rounded_numbers, 10'000);
}

}  // namespace
}  // namespace lrnn
