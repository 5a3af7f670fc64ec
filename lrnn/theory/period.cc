#include "lrnn/theory/period.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "lrnn/runtime/automaton_stepper.h"
#include "lrnn/runtime/bf16.h"
#include "lrnn/runtime/fixed8.h"

namespace lrnn {
namespace {

// Calls visit(Number()) for each of kRoundings, in their order.
template <typename Visit>
void ForEachRounding(const Visit& visit) {
  visit(double());
  visit(float());
  visit(Bf16());
  visit(Fixed8());
}

template <typename Number>
Number Cast(double value) {
  if constexpr (std::is_same_v<Number, double>) {
    return value;
  } else {
    return Number(static_cast<float>(value));
  }
}

template <typename Number>
double ToDouble(Number value) {
  if constexpr (std::is_same_v<Number, double>) {
    return value;
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

// Numbers compared by value: 0 and -0 go on alike.
template <typename Number>
struct States {
  std::vector<Number> numbers;
  friend bool operator==(const States& a, const States& b) {
    return std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(),
                      [](Number x, Number y) { return ToDouble(x) == ToDouble(y); });
  }
};

template <typename Number>
class RoundedLayer {
 public:
  RoundedLayer(const TransitionLayer& layer, const std::vector<int>& word) : n_(layer.transitions[0].A.rows()) {
    for (const int x : word) {
      const Transition& transition = layer.transitions[x];
      for (int i = 0; i < n_; ++i) {
        for (const double entry : transition.A.row(i)) A_.push_back(Cast<Number>(entry));
        B_.push_back(Cast<Number>(transition.B.empty() ? 0.0 : transition.B[i]));
      }
    }
    for (int i = 0; i < n_; ++i) {
      start_.numbers.push_back(
          Cast<Number>(layer.start.empty() ? (i % 2 == 0 ? 1.0 : -1.0) / (1.0 + i) : layer.start[i]));
    }
  }

  const States<Number>& start() const { return start_; }

  void Step(States<Number>& H) const {
    std::vector<Number> next(n_);
    const size_t letters = B_.size() / n_;
    for (size_t x = 0; x < letters; ++x) {
      for (int i = 0; i < n_; ++i) {
        Number sum = B_[x * n_ + i];
        for (int j = 0; j < n_; ++j) sum = sum + A_[(x * n_ + i) * n_ + j] * H.numbers[j];
        next[i] = sum;
      }
      std::swap(next, H.numbers);
    }
  }

 private:
  int n_;
  std::vector<Number> A_, B_;  // [word, n, n], [word, n]
  States<Number> start_;
};

// The smallest period of the last of the exact states, rounded: fp64 stands for exact.
template <typename Number>
std::optional<int64_t> CastPeriod(const RoundedLayer<double>& layer, int64_t steps) {
  constexpr int64_t kLongest = 64, kKept = 8 * kLongest;
  States<double> H = layer.start();
  std::vector<States<Number>> kept;
  for (int64_t t = 0; t < steps + kKept; ++t) {
    layer.Step(H);
    if (t < steps) continue;
    States<Number>& rounded = kept.emplace_back();
    for (const double number : H.numbers) rounded.numbers.push_back(Cast<Number>(number));
  }
  for (int64_t period = 1; period <= kLongest; ++period) {
    if (std::equal(kept.begin() + period, kept.end(), kept.begin())) return period;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PeriodResult> FindPeriods(const AutomatonNetwork& network, const std::vector<int>& word,
                                      int64_t max_steps) {
  std::vector<PeriodResult> results;
  ForEachRounding([&]<typename Number>(Number) {
    const std::unique_ptr<AutomatonStepper<Number>> stepper = MakeStepper<Number>(network);
    const States<Number> start{std::vector<Number>(stepper->StateSize())};
    const auto step = [&](States<Number>& S) {
      for (const int letter : word) stepper->Step(letter, S.numbers.data());
    };
    results.push_back({kRoundings[results.size()], FindCycle(start, step, max_steps), std::nullopt});
  });
  return results;
}

std::vector<PeriodResult> FindPeriods(const TransitionLayer& layer, const std::vector<int>& word, int64_t max_steps) {
  std::vector<PeriodResult> results;
  const RoundedLayer<double> exact(layer, word);
  ForEachRounding([&]<typename Number>(Number) {
    const RoundedLayer<Number> rounded(layer, word);
    const auto step = [&](States<Number>& H) { rounded.Step(H); };
    PeriodResult result{kRoundings[results.size()], FindCycle(rounded.start(), step, max_steps), std::nullopt};
    if (!std::is_same_v<Number, double>) result.cast = CastPeriod<Number>(exact, std::min<int64_t>(max_steps, 10'000));
    results.push_back(result);
  });
  return results;
}

}  // namespace lrnn
