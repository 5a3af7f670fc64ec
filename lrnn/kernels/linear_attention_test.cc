// The linear attention kernel, in all its forms, against loops in double that follow the equations of
// linear_attention.h and their adjoint, token by token.
#include "lrnn/kernels/linear_attention.h"

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
  int64_t H, G, K, V;
  bool per_channel, has_states;

  int64_t N() const { return static_cast<int64_t>(cu_seqlens.size()) - 1; }
  int64_t T() const { return cu_seqlens.back(); }
  int64_t decay_width() const { return per_channel ? K : 1; }
  LinearAttentionShape Shape(LinearAttentionForm form) const {
    return {N(), cu_seqlens.data(), H, G, K, V, per_channel, form};
  }
};

using Array = std::vector<double>;

// All tensors of one problem; `d_` are gradients, or the given gradient for o and the final state.
struct Tensors {
  Array q, k, v, decay, initial, o, final, d_q, d_k, d_v, d_decay, d_initial, d_o, d_final;
};

constexpr double kScale = 0.37;
constexpr LinearAttentionForm kSignedForms[] = {LinearAttentionForm::kRecurrent, LinearAttentionForm::kChunked,
                                                LinearAttentionForm::kSignedLog};

// Numbers that are exact in float and in double. Decays are in [-1, 1], or [0, 1], with 0, 1, -1 and tiny ones.
Tensors RandomInputs(const Problem& p, uint64_t seed, bool signed_decay) {
  Rng rng(seed, 0);
  const auto fill = [&](int64_t size, double low, double high) {
    Array x(size);
    for (double& value : x) value = static_cast<float>(rng.Uniform(low, high));
    return x;
  };
  Tensors t;
  t.q = fill(p.T() * p.G * p.K, -1, 1);
  t.k = fill(p.T() * p.G * p.K, -1, 1);
  t.v = fill(p.T() * p.H * p.V, -1, 1);
  t.decay = fill(p.T() * p.H * p.decay_width(), signed_decay ? -1 : 0, 1);
  const double special[] = {0, 1, signed_decay ? -1.0 : 1.0, std::ldexp(1, -100), signed_decay ? -0.0 : 0.0, 0.999};
  for (size_t i = 0; i < t.decay.size(); i += 4) t.decay[i] = static_cast<float>(special[(i / 4) % 6]);
  if (p.has_states) {
    t.initial = fill(p.N() * p.H * p.K * p.V, -1, 1);
    t.d_final = fill(p.N() * p.H * p.K * p.V, -1, 1);
  }
  t.d_o = fill(p.T() * p.H * p.V, -1, 1);
  return t;
}

// Fills in outputs and gradients.
void Oracle(const Problem& p, Tensors& t) {
  const int64_t K = p.K, V = p.V, KV = K * V;
  t.o.assign(p.T() * p.H * V, 0);
  t.final.assign(p.N() * p.H * KV, 0);
  t.d_q.assign(p.T() * p.H * K, 0), t.d_k.assign(p.T() * p.H * K, 0), t.d_v.assign(t.v.size(), 0);
  t.d_decay.assign(t.decay.size(), 0), t.d_initial.assign(p.N() * p.H * KV, 0);
  for (int64_t seq = 0; seq < p.N(); ++seq) {
    for (int64_t h = 0; h < p.H; ++h) {
      const int64_t first = p.cu_seqlens[seq], last = p.cu_seqlens[seq + 1], group = h / (p.H / p.G);
      const auto q = [&](int64_t token, int64_t i) { return t.q[(token * p.G + group) * K + i]; };
      const auto k = [&](int64_t token, int64_t i) { return t.k[(token * p.G + group) * K + i]; };
      const auto decay_at = [&](int64_t token, int64_t i) {
        return (token * p.H + h) * p.decay_width() + (p.per_channel ? i : 0);
      };
      Array S(KV);
      if (p.has_states) std::copy_n(&t.initial[(seq * p.H + h) * KV], KV, S.begin());
      std::vector<Array> states{S};  // before the first token, after each
      for (int64_t token = first; token < last; ++token) {
        for (int64_t i = 0; i < K; ++i) {
          for (int64_t c = 0; c < V; ++c) {
            S[i * V + c] = t.decay[decay_at(token, i)] * S[i * V + c] + k(token, i) * t.v[(token * p.H + h) * V + c];
            t.o[(token * p.H + h) * V + c] += kScale * q(token, i) * S[i * V + c];
          }
        }
        states.push_back(S);
      }
      std::copy_n(S.begin(), KV, &t.final[(seq * p.H + h) * KV]);

      Array dS(KV);
      if (p.has_states) std::copy_n(&t.d_final[(seq * p.H + h) * KV], KV, dS.begin());
      for (int64_t token = last - 1; token >= first; --token) {
        const Array &before = states[token - first], &after = states[token - first + 1];
        for (int64_t i = 0; i < K; ++i) {
          for (int64_t c = 0; c < V; ++c) {
            const int64_t at = i * V + c, value = (token * p.H + h) * V + c, key = (token * p.H + h) * K + i;
            t.d_q[key] += kScale * t.d_o[value] * after[at];
            dS[at] += kScale * t.d_o[value] * q(token, i);
            t.d_k[key] += dS[at] * t.v[value];
            t.d_v[value] += dS[at] * k(token, i);
            t.d_decay[decay_at(token, i)] += dS[at] * before[at];
            dS[at] *= t.decay[decay_at(token, i)];
          }
        }
      }
      std::copy_n(dS.begin(), KV, &t.d_initial[(seq * p.H + h) * KV]);
    }
  }
}

// All outputs and gradients within 1e-5 of the largest in float, 1e-12 in double.
template <typename T>
void Check(const Problem& p, LinearAttentionForm form, const Tensors& want, int threads, const std::string& where) {
  SCOPED_TRACE(where + (sizeof(T) == 4 ? " float" : " double"));
  Misaligned<T> q(want.q), k(want.k), v(want.v), decay(want.decay), initial(want.initial), d_o(want.d_o),
      d_final(want.d_final);
  Misaligned<T> o(want.o.size()), final(want.final.size()), d_q(want.d_q.size()), d_k(want.d_k.size()),
      d_v(want.v.size()), d_decay(want.decay.size()), d_initial(want.final.size());
  const LinearAttentionShape shape = p.Shape(form);
  Misaligned<T> states(LinearAttentionChunkStates(shape) * p.H * p.K * p.V);
  const LinearAttentionInputs<T> in{q.data(), k.data(), v.data(), decay.data(), initial.data(), static_cast<T>(kScale)};
  LinearAttentionForward(shape, in, o.data(), final.data(), states.data(), threads);
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-12;
  ExpectNear(o, want.o, tolerance, "o");
  ExpectNear(final, want.final, tolerance, "final_state");
  LinearAttentionBackward(shape, in, states.data(), d_o.data(), d_final.data(),
                          {d_q.data(), d_k.data(), d_v.data(), d_decay.data(), d_initial.data()}, threads);
  ExpectNear(d_q, want.d_q, tolerance, "d_q");
  ExpectNear(d_k, want.d_k, tolerance, "d_k");
  ExpectNear(d_v, want.d_v, tolerance, "d_v");
  ExpectNear(d_decay, want.d_decay, tolerance, "d_decay");
  ExpectNear(d_initial, want.d_initial, tolerance, "d_initial_state");
}

std::vector<Problem> Problems() {
  const std::vector<int32_t> one{0, 1}, mixed{0, 3, 3, 4, 41, 73};
  std::vector<Problem> problems;
  for (bool per_channel : {false, true}) {
    problems.push_back({one, 1, 1, 1, 1, per_channel, false});
    problems.push_back({mixed, 2, 2, 3, 5, per_channel, true});
    problems.push_back({mixed, 2, 1, 8, 32, per_channel, false});
    problems.push_back({mixed, 4, 2, 16, 33, per_channel, true});
    problems.push_back({{0, 33}, 1, 1, 7, 31, per_channel, true});
    problems.push_back({{0, 32, 82}, 1, 1, 33, 64, per_channel, false});
    problems.push_back({{0, 0}, 1, 1, 4, 4, per_channel, true});
  }
  return problems;
}

void CheckAll(LinearAttentionForm form, bool signed_decay) {
  const std::vector<Problem> problems = Problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    Tensors want = RandomInputs(problems[i], i, signed_decay);
    Oracle(problems[i], want);
    ForEachTarget([&](const std::string& target) {
      const std::string where = "problem " + std::to_string(i) + " " + target;
      Check<float>(problems[i], form, want, 1, where);
      Check<double>(problems[i], form, want, 2, where);
    });
  }
}

TEST(LinearAttention, RecurrenceEqualsTheEquations) { CheckAll(LinearAttentionForm::kRecurrent, true); }
TEST(LinearAttention, ChunksEqualTheEquations) { CheckAll(LinearAttentionForm::kChunked, true); }
TEST(LinearAttention, SignedLogSpaceEqualsTheEquations) { CheckAll(LinearAttentionForm::kSignedLog, true); }
TEST(LinearAttention, LogSpaceEqualsTheEquationsForPositiveDecays) {
  CheckAll(LinearAttentionForm::kPositiveLog, false);
}

// Sixteen decays of 1e-4 multiply to 1e-64, which is 0 in float, so that quotients of prefix products are 0 / 0; and a
// decay of 1e-30 leaves less of the state than any rounding.
TEST(LinearAttention, ProductsThatUnderflow) {
  for (bool per_channel : {false, true}) {
    for (double magnitude : {1e-4, 1e-30, 0.0}) {
      const Problem p{{0, 100}, 1, 1, 8, 8, per_channel, true};
      Tensors want = RandomInputs(p, 5, true);
      Rng rng(6, 0);
      for (double& a : want.decay) a = static_cast<float>(rng.Uniform(0, 1) < 0.5 ? -magnitude : magnitude);
      Oracle(p, want);
      for (LinearAttentionForm form : kSignedForms) {
        Check<float>(p, form, want, 1, "magnitude " + std::to_string(magnitude));
        Check<double>(p, form, want, 1, "magnitude " + std::to_string(magnitude));
      }
    }
  }
}

// A parity counter: decays of exactly -1 and 1 keep the state's magnitude over 10,000 tokens, to the bit.
TEST(LinearAttention, TenThousandSignsAreExact) {
  constexpr int64_t kTokens = 10000;
  const Problem p{{0, kTokens}, 1, 1, 1, 1, false, true};
  Tensors t = RandomInputs(p, 3, true);
  Rng rng(4, 0);
  std::vector<float> one(kTokens, 1), zero(kTokens, 0), decay(kTokens), o(kTokens), expected(kTokens);
  float state = 0.7f;
  for (int64_t i = 0; i < kTokens; ++i) {
    decay[i] = rng.Uniform(0, 1) < 0.5 ? -1 : 1;
    expected[i] = (i > 0 ? expected[i - 1] : state) * decay[i];
  }
  for (LinearAttentionForm form : kSignedForms) {
    LinearAttentionForward(p.Shape(form), {one.data(), one.data(), zero.data(), decay.data(), &state, 1}, o.data(),
                           static_cast<float*>(nullptr), static_cast<float*>(nullptr), 1);
    EXPECT_EQ(o, expected);
  }
}

// Above the widths where kAuto changes from one form to the other.
TEST(LinearAttention, WideStates) {
  for (bool per_channel : {false, true}) {
    const Problem p{{0, 40}, 1, 1, 130, 128, per_channel, true};
    Tensors want = RandomInputs(p, 8, true);
    Oracle(p, want);
    Check<float>(p, LinearAttentionForm::kAuto, want, 1, "wide");
    Check<float>(p, LinearAttentionForm::kRecurrent, want, 1, "wide");
  }
}

TEST(LinearAttention, StateMayBeUpdatedInPlace) {
  const Problem p{{0, 5, 55}, 2, 2, 6, 40, true, true};
  Tensors want = RandomInputs(p, 7, true);
  Oracle(p, want);
  for (LinearAttentionForm form : kSignedForms) {
    Array state = want.initial, o(want.o.size());
    LinearAttentionForward(p.Shape(form),
                           {want.q.data(), want.k.data(), want.v.data(), want.decay.data(), state.data(), kScale},
                           o.data(), state.data(), static_cast<double*>(nullptr), 1);
    for (size_t i = 0; i < state.size(); ++i) ASSERT_NEAR(state[i], want.final[i], 1e-12);
    for (size_t i = 0; i < o.size(); ++i) ASSERT_NEAR(o[i], want.o[i], 1e-12);
  }
}

// The heads of a task take turns, and how many there are depends on the threads: the bits do not, and what is not a
// number stays in its head and sequence.
TEST(LinearAttention, HeadsDoNotKnowOfEachOther) {
  for (bool per_channel : {false, true}) {
    const Problem p{{0, 300, 640}, 6, 6, 9, 20, per_channel, false};
    Tensors t = RandomInputs(p, 9, true);
    Oracle(p, t);
    struct Results {
      Array o, d_q, d_v, d_decay;
    };
    const auto run = [&](LinearAttentionForm form, int threads) {
      const LinearAttentionShape shape = p.Shape(form);
      Array states(LinearAttentionChunkStates(shape) * p.H * p.K * p.V), d_k(t.d_k.size());
      Results r{Array(t.o.size()), Array(t.d_q.size()), Array(t.v.size()), Array(t.decay.size())};
      const LinearAttentionInputs<double> in{t.q.data(), t.k.data(), t.v.data(), t.decay.data(), nullptr, kScale};
      LinearAttentionForward(shape, in, r.o.data(), static_cast<double*>(nullptr), states.data(), threads);
      LinearAttentionBackward(shape, in, states.data(), t.d_o.data(), static_cast<const double*>(nullptr),
                              {r.d_q.data(), d_k.data(), r.d_v.data(), r.d_decay.data(), nullptr}, threads);
      return r;
    };
    for (LinearAttentionForm form : kSignedForms) {
      const Results one = run(form, 1), three = run(form, 3);
      EXPECT_EQ(one.o, three.o);
      EXPECT_EQ(one.d_q, three.d_q);
      EXPECT_EQ(one.d_v, three.d_v);
      EXPECT_EQ(one.d_decay, three.d_decay);
      const Array v = t.v;
      constexpr int64_t kBroken = 2;
      for (int64_t token = 0; token < p.cu_seqlens[1]; ++token) t.v[(token * p.H + kBroken) * p.V] = NAN;
      const Results broken = run(form, 1);
      t.v = v;
      for (int64_t i = 0; i < p.T() * p.H; ++i) {
        if (i / p.H < p.cu_seqlens[1] && i % p.H == kBroken) continue;
        for (int64_t c = 0; c < p.V; ++c) ASSERT_EQ(broken.o[i * p.V + c], one.o[i * p.V + c]) << i;
        for (int64_t c = 0; c < p.K; ++c) ASSERT_EQ(broken.d_q[i * p.K + c], one.d_q[i * p.K + c]) << i;
      }
      EXPECT_TRUE(std::isnan(broken.o[kBroken * p.V]));
    }
  }
}

}  // namespace
}  // namespace lrnn::kernels
