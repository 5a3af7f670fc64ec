#include "lrnn/runtime/jit_stepper.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "lrnn/automata/permutation.h"
#include "lrnn/runtime/bf16.h"
#include "lrnn/runtime/fixed8.h"
#include "lrnn/runtime/householder_factor.h"
#include "lrnn/runtime/jit_level.h"

namespace lrnn {
namespace {

template <typename Number>
class JitStepper : public AutomatonStepper<Number> {
 public:
  explicit JitStepper(const AutomatonNetwork& network) {
    const Dfa& dfa = network.dfa;
    n_ = dfa.num_states;
    for (int q = 0; q < n_; ++q) {
      if (q != dfa.start) state_at_.push_back(q);
    }
    state_at_.push_back(dfa.start);
    const Permutation rank = Inverse(state_at_);
    for (const std::vector<int>& row : dfa.next) {
      std::vector<int>& ranked = next_.emplace_back(n_);
      for (int q = 0; q < n_; ++q) ranked[rank[q]] = rank[row[q]];
    }
    for (int labels = n_; labels >= 3; --labels) {
      levels_.emplace_back(labels, network.keys);
      state_size_ += levels_.back().StateSize();
    }
    if (n_ >= 2) state_size_ += 1;
  }

  int64_t StateSize() const override { return state_size_; }

  int Step(int letter, Number* S) const override {
    Work work;
    return Step(letter, S, work);
  }

  void Run(std::span<const int> letters, Number* S, int* states) const override {
    Work work;
    for (size_t t = 0; t < letters.size(); ++t) states[t] = Step(letters[t], S, work);
  }

 private:
  struct Action {
    int reset;                     // the label, -1: a permutation
    std::vector<int> permutation;  // of labels
  };

  // What a token needs room for.
  struct Work {
    std::vector<int> before, after;  // the sets P and N
    std::vector<int> rank;
    std::vector<char> is_hit;
    Action action;
  };

  int Step(int letter, Number* S, Work& work) const {
    std::vector<int>&before = work.before, &after = work.after;
    before.resize(n_);
    after.resize(n_);
    std::iota(before.begin(), before.end(), 0);
    std::iota(after.begin(), after.end(), 0);
    const Action& action = work.action;
    for (int labels = n_; labels >= 2; --labels) {
      if (!FindAction(next_[letter], work)) return -1;
      if (labels == 2) {
        const int label = StepSign(action, S);
        return label < 0 ? -1 : state_at_[after[1 - label]];
      }
      const JitLevel<Number>& level = levels_[n_ - labels];
      const auto [old_label, new_label] =
          action.reset < 0 ? level.Permute(action.permutation, S) : level.Reset(action.reset, S);
      if (old_label < 0 || new_label < 0) return -1;
      before.erase(before.begin() + old_label);
      after.erase(after.begin() + new_label);
      S += level.StateSize();
    }
    return state_at_[0];  // an automaton of one state
  }

  // False when a label was wrong: the letter does not lead from the set before into the set after.
  bool FindAction(const std::vector<int>& next, Work& work) const {
    const int labels = static_cast<int>(work.before.size());
    work.rank.assign(n_, -1);  // in the set after
    for (int r = 0; r < labels; ++r) work.rank[work.after[r]] = r;
    work.is_hit.assign(labels, false);
    std::vector<int>& permutation = work.action.permutation;
    permutation.resize(labels);
    for (int r = 0; r < labels; ++r) {
      permutation[r] = work.rank[next[work.before[r]]];
      if (permutation[r] < 0) return false;
      work.is_hit[permutation[r]] = true;
    }
    const auto missing = std::find(work.is_hit.begin(), work.is_hit.end(), false);
    work.action.reset = missing == work.is_hit.end() ? -1 : static_cast<int>(missing - work.is_hit.begin());
    return true;
  }

  // The label after.
  int StepSign(const Action& action, Number* S) const {
    FactorWriter::Factors factors;
    if (action.reset >= 0) {
      sign_.Write(0, action.reset == 0 ? 1.0f : -1.0f, factors);
    } else if (action.permutation[0] == 1) {
      sign_.Flip(0, factors);
    }
    ApplyFactors(factors, S);
    const float sign = static_cast<float>(S[0] + Number(1.0f));
    return sign > 0 ? 0 : sign < 0 ? 1 : -1;
  }

  int n_;
  int64_t state_size_ = 0;
  std::vector<int> state_at_;             // [rank]
  std::vector<std::vector<int>> next_;    // [letter][rank]: rank
  std::vector<JitLevel<Number>> levels_;  // of n, n-1, ..., 3 labels
  FactorWriter sign_{KeyStyle::kExact, 1, {1.0f}};
};

}  // namespace

template <typename Number>
std::unique_ptr<AutomatonStepper<Number>> MakeJitStepper(const AutomatonNetwork& network) {
  return std::make_unique<JitStepper<Number>>(network);
}

template std::unique_ptr<AutomatonStepper<float>> MakeJitStepper(const AutomatonNetwork&);
template std::unique_ptr<AutomatonStepper<double>> MakeJitStepper(const AutomatonNetwork&);
template std::unique_ptr<AutomatonStepper<Bf16>> MakeJitStepper(const AutomatonNetwork&);
template std::unique_ptr<AutomatonStepper<Fixed8>> MakeJitStepper(const AutomatonNetwork&);

}  // namespace lrnn
