// The kernels of the other layers, each against the limit that is its own: multiply-adds where the state is large,
// memory where it is small. "Within twice of the limit" is the goal.

#include "bench/benchmarks.h"
#include "bench/equal_sequences.h"
#include "lrnn/ops/attention.h"
#include "lrnn/ops/diagonal_scan.h"
#include "lrnn/ops/gated_rnn.h"
#include "lrnn/ops/linear_attention.h"
#include "lrnn/ops/matrix_scan.h"
#include "lrnn/ops/torch.h"

namespace lrnn::bench {
namespace {

using torch::Tensor;

// `forward` gives an output from the inputs, whose gradients are taken too if asked for.
Duration Run(const std::vector<Tensor>& inputs, bool backward, const std::function<Tensor()>& forward) {
  for (Tensor input : inputs) input.requires_grad_(backward);
  const Tensor gradient = torch::randn_like(forward());
  return Measure([&] {
    const Tensor y = forward();
    if (backward) torch::autograd::grad({y}, inputs, {gradient});
  });
}

// `work` is how much was done, in the unit of the limit: flops or bytes.
void AddShare(Table& table, const std::string& name, const Duration& time, double work, double limit, double goal) {
  const double rate = work / time.seconds;
  table.Add(name, fmt::format("{:.3g} of {:.3g} G/s", rate * 1e-9, limit * 1e-9), rate / limit, Goal::kAtLeast, goal,
            time.contended);
}

struct LinearAttentionProblem {
  int64_t sequences, length, heads, width;
  bool per_channel;

  void Add(Table& table, const Limits& limits) const {
    for (const bool backward : {false, true}) {
      // 4 K V flops a token and head: the products with the state; 14 with backward.
      const double flops = (backward ? 14.0 : 4.0) * static_cast<double>(sequences * length * heads * width * width);
      AddShare(table,
               fmt::format("{}, {} heads of {}, {} x {} tokens{}", per_channel ? "GLA" : "Mamba-2, mLSTM", heads, width,
                           sequences, length, backward ? ", with backward" : ""),
               Time(backward, kernels::LinearAttentionForm::kAuto, -1), flops, limits.fma, 0.5);
    }
  }

  void AddCostOfSigns(Table& table) const {
    using Form = kernels::LinearAttentionForm;
    for (const bool backward : {false, true}) {
      const Duration with = Time(backward, Form::kSignedLog, 0), without = Time(backward, Form::kPositiveLog, 0);
      table.Add(fmt::format("log-space with signs, to without, a decay a {}{}", per_channel ? "channel" : "head",
                            backward ? ", with backward" : ""),
                fmt::format("{:.3g} ms to {:.3g} ms", with.seconds * 1e3, without.seconds * 1e3),
                with.seconds / without.seconds, Goal::kAtMost, 1.1, with.contended || without.contended);
    }
  }

  // Decays are uniform in [lowest, 1].
  Duration Time(bool backward, kernels::LinearAttentionForm form, double lowest) const {
    torch::manual_seed(1);
    const int64_t T = sequences * length, H = heads, K = width;
    const Tensor q = torch::randn({T, H, K}), k = torch::randn({T, H, K}), v = torch::randn({T, H, K});
    const std::vector<int64_t> shape = per_channel ? std::vector{T, H, K} : std::vector{T, H};
    const Tensor decay = lowest + (1 - lowest) * torch::rand(shape);
    const ops::Sequences packed = EqualSequences(sequences, length);
    return Run({q, k, v, decay}, backward,
               [&] { return ops::LinearAttention(q, k, v, decay, {.scale = 0.1, .form = form}, packed).o; });
  }
};

void AddScans(Table& table, const Limits& limits) {
  const ops::Sequences packed = EqualSequences(64, 512);
  const int64_t T = packed.tokens(), D = 256;
  const Tensor a = torch::rand({T, D}) * 2 - 1, b = torch::randn({T, D});
  for (const bool backward : {false, true}) {
    // Reads a and b, writes h; backward reads a, h and dh, writes da and db.
    AddShare(table, fmt::format("diagonal, 256 channels{}", backward ? ", with backward" : ""),
             Run({a, b}, backward, [&] { return ops::DiagonalScan(a, b, packed); }),
             4.0 * (backward ? 8 : 3) * static_cast<double>(T * D), limits.read, 0.5);
  }

  const int64_t n = 64;
  const ops::Sequences few = EqualSequences(64, 64);
  const int64_t tokens = few.tokens();
  const Tensor which = torch::randint(120, {tokens}, torch::kInt64);
  const Tensor A = torch::randn({120, n, n}) / 8, B = torch::randn({tokens, n, n});
  // S <- A S + B with a state [n, n]: 2 n^3 flops a token, 6 n^3 with backward.
  for (const bool backward : {false, true}) {
    AddShare(table, fmt::format("matrices by token, 64 x 64{}", backward ? ", with backward" : ""),
             Run({A, B}, backward, [&] { return ops::MatrixScan(A, B, few, c10::nullopt, which); }),
             (backward ? 6.0 : 2.0) * static_cast<double>(tokens * n * n * n), limits.fma, 0.5);
  }
}

void AddAttention(Table& table, const Limits& limits) {
  const int64_t length = 2048, H = 4, K = 64;
  const ops::Sequences packed = EqualSequences(2, length);
  const Tensor q = torch::randn({2 * length, H, K}), k = torch::randn({2 * length, H, K}),
               v = torch::randn({2 * length, H, K});
  const double pairs = 2.0 * static_cast<double>(H) * static_cast<double>(length) * static_cast<double>(length + 1) / 2;
  for (const bool backward : {false, true}) {
    // 4 K flops for each pair that sees each other; 14 with backward, which forms the scores again.
    AddShare(table, fmt::format("softmax attention, 2,048 tokens, 4 heads of 64{}", backward ? ", with backward" : ""),
             Run({q, k, v}, backward, [&] { return ops::Attention(q, k, v, 0.125, packed, packed); }),
             (backward ? 14.0 : 4.0) * static_cast<double>(K) * pairs, limits.fma, 0.5);
  }
}

// Against the same recurrence as a loop of torch operations, all sequences that still run at a time.
void AddGatedRnns(Table& table) {
  const ops::Sequences packed = EqualSequences(512, 40);
  const int64_t T = packed.tokens();
  using Form = ops::GatedRnnResult (*)(const Tensor&, const Tensor&, const Tensor&, const ops::GatedRnnOptions&,
                                       const ops::Sequences&, const c10::optional<Tensor>&);
  const auto add = [&](const std::string& name, int64_t H, int64_t K, Form fused, Form eager) {
    const Tensor x = torch::randn({T, H, 4, K}), R = torch::randn({H, K, 4, K}) / 16, bias = torch::randn({H, 4, K});
    for (const bool backward : {false, true}) {
      const auto time = [&](Form form) {
        return Run({x, R, bias}, backward, [&] { return form(x, R, bias, {}, packed, c10::nullopt).y; });
      };
      const Duration loop = time(eager), kernel = time(fused);
      table.Add(fmt::format("{}, loop of torch operations to the kernel{}", name, backward ? ", with backward" : ""),
                fmt::format("{:.3g} ms to {:.3g} ms", loop.seconds * 1e3, kernel.seconds * 1e3),
                loop.seconds / kernel.seconds, Goal::kAtLeast, 10, loop.contended || kernel.contended);
    }
  };
  add("sLSTM, 4 heads of 32", 4, 32, ops::Slstm, ops::SlstmAten);
  add("LSTM, 128 wide", 1, 128, ops::Lstm, ops::LstmAten);
}

}  // namespace

void BenchOtherLayers(Table& table, const Limits& limits) {
  torch::manual_seed(1);
  table.Section("Other layers: share of multiply-adds or, diagonal, of reading memory");
  LinearAttentionProblem{32, 256, 4, 32, true}.Add(table, limits);
  LinearAttentionProblem{8, 256, 8, 64, true}.Add(table, limits);
  LinearAttentionProblem{32, 256, 4, 32, false}.Add(table, limits);
  LinearAttentionProblem{8, 256, 8, 64, false}.Add(table, limits);
  LinearAttentionProblem{8, 256, 8, 64, true}.AddCostOfSigns(table);
  LinearAttentionProblem{8, 256, 8, 64, false}.AddCostOfSigns(table);
  AddScans(table, limits);
  AddAttention(table, limits);
  AddGatedRnns(table);
}

}  // namespace lrnn::bench
