// For tests: a kernel of a gated non-linear RNN against a loop in double that follows the equations, its gradients
// against differences of that loop. A cell of the test has kStates (without y) and
// double Step(const double* gates, double* state).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/gated_rnn.h"
#include "lrnn/kernels/misaligned.h"

namespace lrnn::kernels {

using Array = std::vector<double>;

struct GatedRnnProblem {
  std::vector<int32_t> cu_seqlens;
  int64_t H, K;
  bool has_states;

  int64_t N() const { return static_cast<int64_t>(cu_seqlens.size()) - 1; }
  int64_t T() const { return cu_seqlens.back(); }
  GatedRnnShape Shape() const { return {N(), cu_seqlens.data(), H, K}; }
};

inline std::vector<GatedRnnProblem> GatedRnnProblems() {
  std::vector<int32_t> many{0};  // more sequences than a group has rows, some of them empty
  for (int32_t i = 0; i < 60; ++i) many.push_back(many.back() + i * 7 % 4);
  return {{{0, 1}, 1, 1, false},     {{0, 3, 3, 4, 13}, 2, 5, true},
          {{0, 9, 11}, 1, 17, true}, {{0, 6, 9}, 3, 8, false},
          {many, 1, 3, true},        {{0, 0}, 1, 4, true}};
}

struct GatedRnnTensors {
  Array x, R, bias, initial, y, final, d_y, d_final, d_x, d_bias, d_initial;
};

// Numbers that are exact in float and in double. States are 0.5 to 1.5, so that a normaliser is one.
inline GatedRnnTensors RandomGatedRnn(const GatedRnnProblem& p, int64_t states, uint64_t seed) {
  Rng rng(seed, 0);
  const auto fill = [&](int64_t size, double low, double high) {
    Array values(size);
    for (double& value : values) value = static_cast<float>(rng.Uniform(low, high));
    return values;
  };
  GatedRnnTensors t;
  t.x = fill(p.T() * p.H * 4 * p.K, -2, 2);
  t.R = fill(p.H * p.K * 4 * p.K, -0.5, 0.5);
  t.bias = fill(p.H * 4 * p.K, -1, 1);
  t.d_y = fill(p.T() * p.H * p.K, -1, 1);
  if (p.has_states) {
    t.initial = fill(p.N() * (states + 1) * p.H * p.K, 0.5, 1.5);
    t.d_final = fill(t.initial.size(), -1, 1);
  }
  return t;
}

// Fills in y and final.
template <typename Cell>
void RunGatedRnnOracle(const GatedRnnProblem& p, GatedRnnTensors& t) {
  const int64_t H = p.H, K = p.K, S = Cell::kStates + 1;
  t.y.assign(p.T() * H * K, 0);
  t.final.assign(p.N() * S * H * K, 0);
  for (int64_t n = 0; n < p.N(); ++n) {
    for (int64_t h = 0; h < H; ++h) {
      const auto at = [&](int64_t s, int64_t u) { return ((n * S + s) * H + h) * K + u; };
      Array y(K), state(K * Cell::kStates);
      for (int64_t u = 0; p.has_states && u < K; ++u) {
        y[u] = t.initial[at(0, u)];
        for (int64_t s = 1; s < S; ++s) state[u * Cell::kStates + s - 1] = t.initial[at(s, u)];
      }
      for (int64_t token = p.cu_seqlens[n]; token < p.cu_seqlens[n + 1]; ++token) {
        Array next(K);
        for (int64_t u = 0; u < K; ++u) {
          double gates[4];
          for (int64_t g = 0; g < 4; ++g) {
            gates[g] = t.x[(token * H + h) * 4 * K + g * K + u] + t.bias[(h * 4 + g) * K + u];
            for (int64_t l = 0; l < K; ++l) gates[g] += y[l] * t.R[((h * K + l) * 4 + g) * K + u];
          }
          next[u] = t.y[(token * H + h) * K + u] = Cell::Step(gates, &state[u * Cell::kStates]);
        }
        y = next;
      }
      for (int64_t u = 0; u < K; ++u) {
        t.final[at(0, u)] = y[u];
        for (int64_t s = 1; s < S; ++s) t.final[at(s, u)] = state[u * Cell::kStates + s - 1];
      }
    }
  }
}

// Fills in outputs and, by central differences of sum(y * d_y) + sum(final * d_final), gradients.
template <typename Cell>
GatedRnnTensors GatedRnnOracle(const GatedRnnProblem& p, uint64_t seed) {
  constexpr double kStep = 1e-6;
  GatedRnnTensors t = RandomGatedRnn(p, Cell::kStates, seed);
  const auto differences = [&](Array& values) {
    Array gradient(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double value = values[i];
      const auto loss = [&](double offset) {
        values[i] = value + offset;
        RunGatedRnnOracle<Cell>(p, t);
        double sum = 0;
        for (size_t j = 0; j < t.y.size(); ++j) sum += t.y[j] * t.d_y[j];
        for (size_t j = 0; j < t.d_final.size(); ++j) sum += t.final[j] * t.d_final[j];
        return sum;
      };
      gradient[i] = (loss(kStep) - loss(-kStep)) / (2 * kStep);
      values[i] = value;
    }
    return gradient;
  };
  t.d_x = differences(t.x);
  t.d_bias = differences(t.bias);
  t.d_initial = differences(t.initial);
  RunGatedRnnOracle<Cell>(p, t);
  return t;
}

// Outputs within 1e-5 (float) or 1e-12 (double) of the largest, gradients within 2e-5 or what differences allow.
template <typename T, typename SavedSize, typename Forward, typename Backward>
void CheckGatedRnn(const GatedRnnProblem& p, const GatedRnnTensors& want, int threads, const SavedSize& saved_size,
                   const Forward& forward, const Backward& backward) {
  SCOPED_TRACE(sizeof(T) == 4 ? "float" : "double");
  const GatedRnnShape shape = p.Shape();
  const int64_t head = 4 * p.K, token = p.H * head;
  Misaligned<T> x(want.x), R(want.R), bias(want.bias), initial(want.initial), d_y(want.d_y), d_final(want.d_final);
  Misaligned<T> y(want.y.size()), final(want.final.size()), saved(saved_size(shape)), d_x(want.x.size()),
      d_bias(want.bias.size()), d_initial(want.initial.size());
  const GatedRnnInputs<T> in{x.data(), token, head, R.data(), bias.data(), initial.data()};
  forward(shape, in, GatedRnnOutputs<T>{y.data(), final.data(), saved.data()}, threads);
  ExpectNear(y, want.y, sizeof(T) == 4 ? 1e-5 : 1e-12, "y");
  ExpectNear(final, want.final, sizeof(T) == 4 ? 1e-5 : 1e-12, "final_state");
  backward(shape, in, saved.data(), d_y.data(), d_final.data(),
           GatedRnnGradients<T>{d_x.data(), token, head, d_bias.data(), d_initial.data()}, threads);
  const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-7;
  ExpectNear(d_x, want.d_x, tolerance, "d_x");
  ExpectNear(d_bias, want.d_bias, tolerance, "d_bias");
  ExpectNear(d_initial, want.d_initial, tolerance, "d_initial_state");
}

// All problems, on all targets.
template <typename Cell, typename SavedSize, typename Forward, typename Backward>
void CheckGatedRnnProblems(const SavedSize& saved_size, const Forward& forward, const Backward& backward) {
  const std::vector<GatedRnnProblem> problems = GatedRnnProblems();
  for (size_t i = 0; i < problems.size(); ++i) {
    const GatedRnnTensors want = GatedRnnOracle<Cell>(problems[i], i);
    ForEachTarget([&](const std::string& target) {
      SCOPED_TRACE("problem " + std::to_string(i) + " " + target);
      CheckGatedRnn<float>(problems[i], want, 1, saved_size, forward, backward);
      CheckGatedRnn<double>(problems[i], want, 2, saved_size, forward, backward);
    });
  }
}

struct GatedRnnRun {
  std::vector<float> y, d_x;
};

// Forward and, with d_y = 1, backward in float: one sequence of 8 units whose gates have these arguments at every token
// (x, without bias); all of R is `strength`.
template <typename SavedSize, typename Forward, typename Backward>
GatedRnnRun RunEqualTokens(int32_t tokens, const float (&gates)[4], float strength, const SavedSize& saved_size,
                           const Forward& forward, const Backward& backward) {
  constexpr int64_t K = 8;
  const std::vector<int32_t> cu_seqlens{0, tokens};
  const GatedRnnShape shape{1, cu_seqlens.data(), 1, K};
  std::vector<float> x(tokens * 4 * K), R(K * 4 * K, strength), d_y(tokens * K, 1), d_bias(4 * K),
      saved(saved_size(shape));
  for (size_t i = 0; i < x.size(); ++i) x[i] = gates[i / K % 4];
  GatedRnnRun run{std::vector<float>(tokens * K), std::vector<float>(x.size())};
  const GatedRnnInputs<float> in{x.data(), 4 * K, 4 * K, R.data(), nullptr, nullptr};
  forward(shape, in, GatedRnnOutputs<float>{run.y.data(), nullptr, saved.data()}, 1);
  backward(shape, in, saved.data(), d_y.data(), nullptr,
           GatedRnnGradients<float>{run.d_x.data(), 4 * K, 4 * K, d_bias.data(), nullptr}, 1);
  return run;
}

inline bool AllFinite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace lrnn::kernels
