// The delta rule kernel against loops in double that follow the equations of delta_rule.h and their adjoint, step by
// step.
#include "lrnn/kernels/delta_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/misaligned.h"

namespace lrnn::kernels {
namespace {

struct Problem {
  std::vector<int32_t> cu_seqlens;
  int64_t H, K, V, n;
  bool has_decay, has_states;

  int64_t N() const { return static_cast<int64_t>(cu_seqlens.size()) - 1; }
  int64_t T() const { return cu_seqlens.back(); }
  DeltaRuleShape Shape() const { return {N(), cu_seqlens.data(), H, K, V, n}; }
};

template <typename T>
using Array = std::vector<T>;

// All tensors of one problem; `d_` are gradients, or the given gradient for o and the final state.
template <typename T>
struct Tensors {
  Array<T> q, k, v, beta, decay, initial, o, final, d_q, d_k, d_v, d_beta, d_decay, d_initial, d_o, d_final;
};

constexpr double kScale = 0.37;

Tensors<double> RandomInputs(const Problem& p, uint64_t seed) {
  Rng rng(seed, 0);
  const auto fill = [&](int64_t size, double low, double high) {
    Array<double> x(size);
    for (double& value : x) value = static_cast<float>(rng.Uniform(low, high));  // exact in float and in double
    return x;
  };
  Tensors<double> t;
  t.q = fill(p.T() * p.H * p.K, -1, 1);
  t.k = fill(p.T() * p.n * p.H * p.K, -1, 1);
  for (int64_t row = 0; row < p.T() * p.n * p.H; ++row) {  // unit keys, except a zero key now and then
    double norm = 1e-30;
    for (int64_t i = 0; i < p.K; ++i) norm += t.k[row * p.K + i] * t.k[row * p.K + i];
    const double factor = row % 11 == 5 ? 0 : 1 / std::sqrt(norm);
    for (int64_t i = 0; i < p.K; ++i) t.k[row * p.K + i] = static_cast<float>(t.k[row * p.K + i] * factor);
  }
  t.v = fill(p.T() * p.n * p.H * p.V, -1, 1);
  t.beta = fill(p.T() * p.n * p.H, 0, 2);
  for (size_t i = 0; i < t.beta.size(); i += 5) t.beta[i] = (i / 5) % 3;  // exactly 0, 1, 2
  if (p.has_decay) {
    t.decay = fill(p.T() * p.H, 0, 1);
    for (size_t i = 0; i < t.decay.size(); i += 4) t.decay[i] = (i / 4) % 2;  // exactly 0, 1
  }
  if (p.has_states) {
    t.initial = fill(p.N() * p.H * p.K * p.V, -1, 1);
    t.d_final = fill(p.N() * p.H * p.K * p.V, -1, 1);
  }
  t.d_o = fill(p.T() * p.H * p.V, -1, 1);
  return t;
}

// Fills in outputs and gradients.
void Oracle(const Problem& p, Tensors<double>& t) {
  const int64_t KV = p.K * p.V;
  t.o.assign(p.T() * p.H * p.V, 0);
  t.final.assign(p.N() * p.H * KV, 0);
  t.d_q.assign(t.q.size(), 0), t.d_k.assign(t.k.size(), 0), t.d_v.assign(t.v.size(), 0),
      t.d_beta.assign(t.beta.size(), 0);
  t.d_decay.assign(t.decay.size(), 0), t.d_initial.assign(p.N() * p.H * KV, 0);
  for (int64_t seq = 0; seq < p.N(); ++seq) {
    for (int64_t h = 0; h < p.H; ++h) {
      const int64_t first = p.cu_seqlens[seq] * p.n, last = p.cu_seqlens[seq + 1] * p.n;
      Array<double> S(KV);
      if (p.has_states) std::copy_n(&t.initial[(seq * p.H + h) * KV], KV, S.begin());
      std::vector<Array<double>> before, decayed, after;  // S of each step
      std::vector<Array<double>> errors;
      for (int64_t step = first; step < last; ++step) {
        const int64_t token = step / p.n;
        before.push_back(S);
        if (p.has_decay && step % p.n == 0) {
          for (double& s : S) s *= t.decay[token * p.H + h];
        }
        decayed.push_back(S);
        const double* k = &t.k[(step * p.H + h) * p.K];
        Array<double> e(p.V);
        for (int64_t c = 0; c < p.V; ++c) {
          e[c] = t.v[(step * p.H + h) * p.V + c];
          for (int64_t i = 0; i < p.K; ++i) e[c] -= S[i * p.V + c] * k[i];
        }
        for (int64_t i = 0; i < p.K; ++i) {
          for (int64_t c = 0; c < p.V; ++c) S[i * p.V + c] += t.beta[step * p.H + h] * k[i] * e[c];
        }
        errors.push_back(e);
        after.push_back(S);
        if (step % p.n != p.n - 1) continue;
        for (int64_t c = 0; c < p.V; ++c) {
          for (int64_t i = 0; i < p.K; ++i) {
            t.o[(token * p.H + h) * p.V + c] += kScale * S[i * p.V + c] * t.q[(token * p.H + h) * p.K + i];
          }
        }
      }
      std::copy_n(S.begin(), KV, &t.final[(seq * p.H + h) * KV]);

      Array<double> G(KV);
      if (p.has_states) std::copy_n(&t.d_final[(seq * p.H + h) * KV], KV, G.begin());
      for (int64_t step = last - 1; step >= first; --step) {
        const int64_t token = step / p.n, at = step - first;
        const double* k = &t.k[(step * p.H + h) * p.K];
        double* d_k = &t.d_k[(step * p.H + h) * p.K];
        const double beta = t.beta[step * p.H + h];
        if (step % p.n == p.n - 1) {
          for (int64_t i = 0; i < p.K; ++i) {
            for (int64_t c = 0; c < p.V; ++c) {
              const double d_o = kScale * t.d_o[(token * p.H + h) * p.V + c];
              t.d_q[(token * p.H + h) * p.K + i] += after[at][i * p.V + c] * d_o;
              G[i * p.V + c] += t.q[(token * p.H + h) * p.K + i] * d_o;
            }
          }
        }
        for (int64_t c = 0; c < p.V; ++c) {
          double dw = 0;
          for (int64_t i = 0; i < p.K; ++i) {
            dw += G[i * p.V + c] * k[i];
            d_k[i] += G[i * p.V + c] * beta * errors[at][c];
          }
          t.d_beta[step * p.H + h] += dw * errors[at][c];
          const double de = beta * dw;
          t.d_v[(step * p.H + h) * p.V + c] = de;
          for (int64_t i = 0; i < p.K; ++i) {
            d_k[i] -= decayed[at][i * p.V + c] * de;
            G[i * p.V + c] -= k[i] * de;
          }
        }
        if (p.has_decay && step % p.n == 0) {
          for (int64_t x = 0; x < KV; ++x) {
            t.d_decay[token * p.H + h] += G[x] * before[at][x];
            G[x] *= t.decay[token * p.H + h];
          }
        }
      }
      std::copy_n(G.begin(), KV, &t.d_initial[(seq * p.H + h) * KV]);
    }
  }
}

template <typename T>
void Check(const Problem& p, const Tensors<double>& want, int threads, const std::string& where) {
  SCOPED_TRACE(where + (sizeof(T) == 4 ? " float" : " double"));
  Misaligned<T> q(want.q), k(want.k), v(want.v), beta(want.beta), decay(want.decay), initial(want.initial),
      d_o(want.d_o), d_final(want.d_final);
  Misaligned<T> o(want.o.size()), final(want.final.size()), d_q(want.q.size()), d_k(want.k.size()), d_v(want.v.size()),
      d_beta(want.beta.size()), d_decay(want.decay.size()), d_initial(want.final.size());
  const DeltaRuleShape shape = p.Shape();
  Misaligned<T> errors(want.v.size()), states(DeltaRuleSavedStates(shape) * p.H * p.K * p.V);
  const DeltaRuleInputs<T> in{
      q.data(), k.data(), v.data(), beta.data(), decay.data(), initial.data(), static_cast<T>(kScale)};
  const DeltaRuleSaved<T> saved{errors.data(), states.data()};
  DeltaRuleForward(shape, in, o.data(), final.data(), saved, threads);
  const double tolerance = 40.0 * (4 + p.K) * std::numeric_limits<T>::epsilon();
  ExpectNear(o, want.o, tolerance, "o");
  ExpectNear(final, want.final, tolerance, "final_state");
  DeltaRuleBackward(shape, in, saved, d_o.data(), d_final.data(),
                    {d_q.data(), d_k.data(), d_v.data(), d_beta.data(), d_decay.data(), d_initial.data()}, threads);
  ExpectNear(d_q, want.d_q, tolerance, "d_q");
  ExpectNear(d_k, want.d_k, tolerance, "d_k");
  ExpectNear(d_v, want.d_v, tolerance, "d_v");
  ExpectNear(d_beta, want.d_beta, tolerance, "d_beta");
  ExpectNear(d_decay, want.d_decay, tolerance, "d_decay");
  ExpectNear(d_initial, want.d_initial, tolerance, "d_initial_state");
}

TEST(DeltaRule, EqualsTheEquations) {
  const std::vector<int32_t> one{0, 1}, mixed{0, 3, 3, 4, 41};
  const std::vector<Problem> problems = {
      {one, 1, 1, 1, 1, false, false},
      {mixed, 2, 3, 5, 1, false, true},
      {mixed, 1, 8, 32, 1, true, true},
      {mixed, 2, 16, 33, 2, true, true},
      {mixed, 1, 7, 31, 3, false, true},
      {mixed, 3, 32, 32, 1, false, false},
      {one, 2, 32, 70, 4, true, true},
      {{0, 17}, 1, 33, 64, 17, true, false},
      {{0, 0}, 1, 4, 4, 1, false, true},
      // Rows of more than one panel, and sequences long enough for saved states.
      {mixed, 1, 130, 3, 1, true, true},
      {{0, 5, 1205}, 1, 3, 5, 1, true, true},
      {{0, 333}, 1, 4, 3, 4, false, true},
      {{0, 700}, 1, 65, 3, 1, false, true},    // several segments between two saved states
      {{0, 5, 605}, 3, 5, 40, 1, true, true},  // heads and panels of columns in turns, saved states between them
  };
  for (size_t i = 0; i < problems.size(); ++i) {
    const Problem& p = problems[i];
    Tensors<double> want = RandomInputs(p, i);
    Oracle(p, want);
    ForEachTarget([&](const std::string& target) {
      Check<float>(p, want, 1, "problem " + std::to_string(i) + " " + target);
      Check<double>(p, want, 2, "problem " + std::to_string(i) + " " + target);
    });
  }
}

// Steps share a sweep, up to four, and reads come after any of them: every length up to some sweeps, with reads after
// each step, each second, ... one in seven; tiles of columns that are whole, and one that is not.
TEST(DeltaRule, AnyNumberOfSteps) {
  for (const int64_t householders : {1, 2, 3, 4, 5, 7}) {
    for (const bool has_decay : {false, true}) {
      Problem p{{0}, 2, 6, 70, householders, has_decay, has_decay};
      for (int32_t length = 0; length <= 13; ++length) p.cu_seqlens.push_back(p.cu_seqlens.back() + length);
      Tensors<double> want = RandomInputs(p, 31 + householders);
      Oracle(p, want);
      ForEachTarget([&](const std::string& target) {
        Check<float>(p, want, 1, target);
        Check<double>(p, want, 2, target);
      });
    }
  }
}

// So many sequences that heads are taken in turns, and decays whose products leave what a float can hold.
TEST(DeltaRule, DecaysOfAnySize) {
  const std::vector<double> small = {1, 0.5, 1e-3, 1, 1e-9, 0, 1, 0.9, 1e-6, -0.7, 1, 1e-30, 1},
                            large = {1, 30, 0.5, 1e8, 1e-6, 1, 2e7, 1e-20, -3};
  for (const int64_t householders : {1, 2, 3}) {
    for (const std::vector<double>& decays : {small, large}) {
      Problem p{{0}, 3, 5, 6, householders, true, true};
      for (int32_t i = 1; i <= 60; ++i) p.cu_seqlens.push_back(p.cu_seqlens.back() + 11 + i % 23);
      Tensors<double> want = RandomInputs(p, 17 + householders);
      for (size_t i = 0; i < want.decay.size(); ++i) want.decay[i] = decays[i * i % decays.size()];
      Oracle(p, want);
      ForEachTarget([&](const std::string& target) {
        Check<float>(p, want, 1, target);
        Check<double>(p, want, 2, target);
      });
    }
  }
}

TEST(DeltaRule, WhatIsNotANumberStaysInItsSequence) {
  const Problem p{{0, 8, 15, 18}, 2, 6, 40, 1, true, true};
  Tensors<double> want = RandomInputs(p, 5);
  Oracle(p, want);
  Array<double> k = want.k, o(want.o.size());
  std::fill_n(k.begin(), 8 * p.H * p.K, std::numeric_limits<double>::quiet_NaN());
  DeltaRuleForward(
      p.Shape(),
      {want.q.data(), k.data(), want.v.data(), want.beta.data(), want.decay.data(), want.initial.data(), kScale},
      o.data(), nullptr, DeltaRuleSaved<double>{nullptr, nullptr}, 1);
  for (size_t i = 0; i < o.size(); ++i) {
    if (static_cast<int64_t>(i) < 8 * p.H * p.V) {
      ASSERT_TRUE(std::isnan(o[i]));
    } else {
      ASSERT_NEAR(o[i], want.o[i], 1e-12);
    }
  }
}

TEST(DeltaRule, StateMayBeUpdatedInPlace) {
  const Problem p{{0, 5, 9}, 2, 6, 40, 1, true, true};
  Tensors<double> want = RandomInputs(p, 7);
  Oracle(p, want);
  Array<double> state = want.initial, o(want.o.size());
  DeltaRuleForward(
      p.Shape(),
      {want.q.data(), want.k.data(), want.v.data(), want.beta.data(), want.decay.data(), state.data(), kScale},
      o.data(), state.data(), DeltaRuleSaved<double>{nullptr, nullptr}, 1);
  for (size_t i = 0; i < state.size(); ++i) ASSERT_NEAR(state[i], want.final[i], 1e-12);
  for (size_t i = 0; i < o.size(); ++i) ASSERT_NEAR(o[i], want.o[i], 1e-12);
}

// With unit keys and beta = 2 each step is a reflection, which keeps lengths: rounding may add up, but must not grow.
TEST(DeltaRule, TenThousandReflectionsDoNotGrowTheError) {
  constexpr int64_t kTokens = 10000, kWidth = 8;
  const Problem p{{0, kTokens}, 1, kWidth, kWidth, 1, false, true};
  Tensors<double> want = RandomInputs(p, 3);
  std::fill(want.beta.begin(), want.beta.end(), 2.0);
  std::fill(want.v.begin(), want.v.end(), 0.0);
  for (int64_t row = 0; row < kTokens; ++row) {  // no zero keys here
    double norm = 0;
    for (int64_t i = 0; i < kWidth; ++i) norm += want.q[row * kWidth + i] * want.q[row * kWidth + i];
    for (int64_t i = 0; i < kWidth; ++i) want.k[row * kWidth + i] = want.q[row * kWidth + i] / std::sqrt(norm);
  }
  Oracle(p, want);
  std::vector<float> q(want.q.begin(), want.q.end()), k(want.k.begin(), want.k.end()), v(want.v.begin(), want.v.end()),
      beta(want.beta.begin(), want.beta.end()), initial(want.initial.begin(), want.initial.end()), o(want.o.size()),
      final(want.final.size());
  DeltaRuleForward(p.Shape(),
                   {q.data(), k.data(), v.data(), beta.data(), nullptr, initial.data(), static_cast<float>(kScale)},
                   o.data(), final.data(), DeltaRuleSaved<float>{nullptr, nullptr}, 1);
  const auto largest_error = [&](int64_t begin, int64_t end) {
    double error = 0;
    for (int64_t i = begin * kWidth; i < end * kWidth; ++i) error = std::max(error, std::abs(o[i] - want.o[i]));
    return error;
  };
  EXPECT_LT(largest_error(0, 100), 1e-5);
  EXPECT_LT(largest_error(kTokens - 100, kTokens), 1e-3);  // 10,000 roundings of 6e-8, were they all in one direction
}

}  // namespace
}  // namespace lrnn::kernels
