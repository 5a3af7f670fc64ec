#include "lrnn/theory/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "lrnn/base/rng.h"
#include "lrnn/compile/compiler.h"
#include "lrnn/compile/factor.h"
#include "lrnn/runtime/automaton_stepper.h"
#include "lrnn/runtime/bf16.h"
#include "lrnn/runtime/householder_factor.h"

namespace lrnn {
namespace {

float RoundToBf16(float value) { return static_cast<float>(Bf16(value)); }

// The letters are the rotations by 0 .. m-1 places.
Dfa CyclicAutomaton(int m) {
  Dfa dfa{m, {}, {}, 0, std::vector<bool>(m, false)};
  dfa.accepting[0] = true;
  for (int turn = 0; turn < m; ++turn) {
    dfa.letters.push_back(fmt::format("+{}", turn));
    std::vector<int>& next = dfa.next.emplace_back();
    for (int q = 0; q < m; ++q) next.push_back((q + turn) % m);
  }
  return dfa;
}

// The letters are the swaps of two of n points.
Dfa SwapAutomaton(int n) {
  Dfa dfa{n, {}, {}, 0, std::vector<bool>(n, false)};
  dfa.accepting[0] = true;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      dfa.letters.push_back(fmt::format("({} {})", j, i));
      std::vector<int>& next = dfa.next.emplace_back();
      for (int q = 0; q < n; ++q) next.push_back(q == i ? j : q == j ? i : q);
    }
  }
  return dfa;
}

// A group of rotations of space on the vector that the start is.
class SpaceGroup {
 public:
  // The symmetries of the icosahedron: a half turn about z, a fifth of a turn about a corner (0, 1, golden ratio).
  SpaceGroup() {
    const double phi = std::numbers::phi, norm = std::hypot(1.0, phi);
    letters_ = {Turn({0, 0, 1}, 0.5), Turn({0, 1 / norm, phi / norm}, 0.2)};
    points_ = {{0.6, 0.48, 0.64}};  // of norm 1, fixed by none
    for (size_t i = 0; i < points_.size(); ++i) {
      std::vector<int>& row = next_.emplace_back();
      for (const Matrix& letter : letters_) {
        const Point moved = Apply(letter, points_[i]);
        const auto known =
            std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return Distance(p, moved) < 1e-6; });
        row.push_back(static_cast<int>(known - points_.begin()));
        if (known == points_.end()) points_.push_back(moved);
      }
    }
    for (size_t i = 1; i < points_.size(); ++i) radius_ = std::min(radius_, Distance(points_[0], points_[i]) / 2);
  }

  template <typename Number>
  Drift Run(bool round_keys, int64_t tokens, Rng rng) const {
    std::vector<std::vector<Step<Number>>> steps;
    for (const Matrix& letter : letters_) {
      steps.emplace_back();
      const auto factors = Factor(letter).factors;
      for (size_t m = factors.size(); m-- > 0;) {  // the last acts first
        Step<Number> step;
        double square = 0.0;
        for (int i = 0; i < 3; ++i) {
          const float k = static_cast<float>(factors[m].k[i]);
          step.key[i] = {i, Number(round_keys ? RoundToBf16(k) : k)};
          square += std::pow(static_cast<double>(static_cast<float>(step.key[i].k)), 2);
        }
        const float beta = static_cast<float>(2.0 / square);
        step.beta = Number(round_keys ? RoundToBf16(beta) : beta);
        steps.back().push_back(step);
      }
    }
    Drift drift;
    drift.limit = radius_;
    Number H[3];
    for (int i = 0; i < 3; ++i) H[i] = Number(static_cast<float>(points_[0][i]));
    int state = 0;
    for (drift.tokens = 0; drift.tokens < tokens;) {
      const int letter = static_cast<int>(rng.Below(static_cast<uint32_t>(letters_.size())));
      for (const Step<Number>& step : steps[letter]) HouseholderStep(step.key, 3, step.beta, Number(0.0f), H);
      state = next_[state][letter];
      ++drift.tokens;
      const Point point = {static_cast<float>(H[0]), static_cast<float>(H[1]), static_cast<float>(H[2])};
      drift.error = Distance(point, points_[state]);
      if (drift.error < radius_ || Nearest(point) == state) continue;
      drift.wrong_at = drift.tokens;
      break;
    }
    return drift;
  }

 private:
  using Point = std::array<double, 3>;
  template <typename Number>
  struct Step {
    KeyEntry<Number> key[3];
    Number beta;
  };

  // Rodrigues' formula.
  static Matrix Turn(const Point& axis, double turns) {
    const double c = std::cos(2 * std::numbers::pi * turns), s = std::sin(2 * std::numbers::pi * turns);
    const auto [x, y, z] = axis;
    Matrix turn{{c, -s * z, s * y}, {s * z, c, -s * x}, {-s * y, s * x, c}};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) turn(i, j) += (1 - c) * axis[i] * axis[j];
    }
    return turn;
  }
  static Point Apply(const Matrix& A, const Point& p) { return {Dot(A.row(0), p), Dot(A.row(1), p), Dot(A.row(2), p)}; }
  static double Distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }
  int Nearest(const Point& p) const {
    const auto nearest = std::min_element(points_.begin(), points_.end(), [&](const Point& a, const Point& b) {
      return Distance(a, p) < Distance(b, p);
    });
    return static_cast<int>(nearest - points_.begin());
  }

  std::vector<Matrix> letters_;
  std::vector<Point> points_;           // [element]: where it takes the start
  std::vector<std::vector<int>> next_;  // [element][letter]
  double radius_ = std::numeric_limits<double>::infinity();
};

// How far the only layer's state is from what it should be.
template <typename Number>
double ErrorOf(const AutomatonLevel& level, const std::vector<Number>& S, int label) {
  const std::vector<float> initial = level.InitialContent(0);
  const int copies = level.layers[0].copies;
  const auto content = [&](int i) { return static_cast<double>(static_cast<float>(S[i * copies])) + initial[i]; };
  if (level.kind == LevelKind::kRotation) {
    const double turn = 2 * std::numbers::pi;
    return std::abs(std::remainder(std::atan2(content(1), content(0)) - turn * label / level.tables.labels, turn));
  }
  double error = 0.0;
  for (size_t i = 0; i < initial.size(); ++i) {
    error = std::max(error, std::abs(content(static_cast<int>(i)) - (static_cast<int>(i) == label ? 1.0 : 0.0)));
  }
  return error;
}

template <typename Number>
Drift RunNetwork(AutomatonNetwork network, bool round_keys, bool random, int64_t tokens, Rng rng) {
  const AutomatonLevel& level = network.levels[0];
  if (round_keys) {
    for (DeltaProductTable& layer : network.levels[0].layers) {
      for (auto* numbers : {&layer.k, &layer.beta, &layer.v}) {
        for (float& number : *numbers) number = RoundToBf16(number);
      }
    }
  }
  const auto stepper = MakeStepper<Number>(network);
  std::vector<Number> S(stepper->StateSize());
  Drift drift;
  drift.limit = level.kind == LevelKind::kRotation ? std::numbers::pi / level.tables.labels : 0.5;
  int state = network.dfa.start, label = 0;
  while (drift.tokens < tokens) {
    const int letter = random ? static_cast<int>(rng.Below(static_cast<uint32_t>(network.dfa.num_letters()))) : 1;
    state = network.dfa.next[letter][state];
    label = level.tables.actions[level.tables.action_of[network.first_context[letter]]][label];
    ++drift.tokens;
    if (stepper->Step(letter, S.data()) == state) continue;
    drift.wrong_at = drift.tokens;
    break;
  }
  drift.error = ErrorOf(level, S, label);
  return drift;
}

// In the three arithmetics.
template <typename Run>
void MeasureAll(const std::string& representation, const std::string& word, const Run& run,
                const std::function<void(const Drift&)>& done) {
  const auto finish = [&](Drift drift, const char* arithmetic) {
    drift.representation = representation;
    drift.word = word;
    drift.arithmetic = arithmetic;
    done(drift);
  };
  finish(run(float(), false), "fp32");
  finish(run(float(), true), "bf16 keys");
  finish(run(Bf16(), false), "bf16");
}

}  // namespace

void MeasureDrift(int64_t tokens, uint64_t seed, const std::function<void(const Drift&)>& done) {
  const auto network_rows = [&](const std::string& name, const AutomatonNetwork& network, bool random) {
    const auto run = [&]<typename Number>(Number, bool round_keys) {
      return RunNetwork<Number>(network, round_keys, random, tokens, Rng(seed, 0));
    };
    MeasureAll(name, random ? "random letters" : "one letter", run, done);
  };
  for (const int m : {3, 5, 12, 60, 360}) {
    const AutomatonNetwork network = Compile(CyclicAutomaton(m), {.rotations = true}).network;
    for (const bool random : {false, true}) network_rows(fmt::format("Z_{} rotation", m), network, random);
  }
  for (const int n : {5, 16}) {
    for (const KeyStyle keys : {KeyStyle::kUnit, KeyStyle::kExact, KeyStyle::kDup}) {
      const AutomatonNetwork network = Compile(SwapAutomaton(n), {.mode = CompileMode::kRelax, .keys = keys}).network;
      network_rows(fmt::format("S_{} swaps, keys {}", n, Name(keys)), network, true);
    }
  }
  const SpaceGroup icosahedron;
  const auto run = [&]<typename Number>(Number, bool round_keys) {
    return icosahedron.Run<Number>(round_keys, tokens, Rng(seed, 0));
  };
  MeasureAll("A_5 in space", "random letters", run, done);
}

}  // namespace lrnn
