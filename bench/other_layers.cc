// The kernels of the other layers, each against its own roofline: multiply-adds where the state is large, memory where
// it is small. "Within twice of it" is the goal.

#include "bench/benchmarks.h"
#include "bench/forward_and_backward.h"
#include "bench/lengths.h"
#include "lrnn/ops/attention.h"
#include "lrnn/ops/diagonal_scan.h"
#include "lrnn/ops/gated_rnn.h"
#include "lrnn/ops/linear_attention.h"
#include "lrnn/ops/matrix_scan.h"
#include "lrnn/ops/torch.h"

namespace lrnn::bench {
namespace {

using torch::Tensor;

void AddShare(Table& table, const std::string& name, const Work& work, const std::vector<Amount>& amounts) {
  const Share share = MeasureShare(work, amounts);
  table.Add(
      name,
      fmt::format("{:.3g} ms, {:.3g} G/s", share.time.seconds * 1e3, amounts[0].units / share.time.seconds * 1e-9),
      share.share, Goal::kAtLeast, 0.5, share.time.contended);
}

struct LinearAttentionProblem {
  int64_t sequences, length, heads, width;
  bool per_channel;

  void Add(Table& table, const Limits& limits) const {
    for (const bool backward : {false, true}) {
      // 4 K V flops a token and head: the products with the state; 14 with backward. Rows of q, k, v, o and decays are
      // read and written once, with backward d_o and the gradients too, and what is saved of the inputs is read again.
      const double rows = static_cast<double>(sequences * length * heads);
      const double flops = (backward ? 14.0 : 4.0) * rows * static_cast<double>(width * width);
      const double decays = per_channel ? static_cast<double>(width) : 1.0;
      const double bytes =
          4 * rows *
          (backward ? 11.0 * static_cast<double>(width) + 3 * decays : 4.0 * static_cast<double>(width) + decays);
      AddShare(table,
               fmt::format("{}, {} heads of {}, {} x {} tokens{}", per_channel ? "GLA" : "Mamba-2, mLSTM", heads, width,
                           sequences, length, backward ? ", with backward" : ""),
               Run(backward, kernels::LinearAttentionForm::kAuto, -1), {{flops, &limits.fma}, {bytes, &limits.read}});
    }
  }

  void AddCostOfSigns(Table& table) const {
    using Form = kernels::LinearAttentionForm;
    for (const bool backward : {false, true}) {
      table.Add(fmt::format("log-space with signs, to without, a decay a {}{}", per_channel ? "channel" : "head",
                            backward ? ", with backward" : ""),
                MeasureRatio(Run(backward, Form::kSignedLog, 0), Run(backward, Form::kPositiveLog, 0)), Goal::kAtMost,
                1.1);
    }
  }

  // Decays are uniform in [lowest, 1].
  Work Run(bool backward, kernels::LinearAttentionForm form, double lowest) const {
    torch::manual_seed(1);
    const int64_t T = sequences * length, H = heads, K = width;
    const Tensor q = torch::randn({T, H, K}), k = torch::randn({T, H, K}), v = torch::randn({T, H, K});
    const std::vector<int64_t> shape = per_channel ? std::vector{T, H, K} : std::vector{T, H};
    const Tensor decay = lowest + (1 - lowest) * torch::rand(shape);
    const ops::Sequences packed = EqualSequences(sequences, length);
    return ForwardAndBackward({q, k, v, decay}, backward, [=] {
      return ops::LinearAttention(q, k, v, decay, {.scale = 0.1, .form = form}, packed).o;
    });
  }
};

void AddScans(Table& table, const Limits& limits) {
  const ops::Sequences packed = EqualSequences(64, 512);
  const int64_t T = packed.tokens(), D = 256;
  const Tensor a = torch::rand({T, D}) * 2 - 1, b = torch::randn({T, D});
  for (const bool backward : {false, true}) {
    // Reads a and b, writes h; backward reads a, h and dh, writes da and db.
    AddShare(table, fmt::format("diagonal, 256 channels{}", backward ? ", with backward" : ""),
             ForwardAndBackward({a, b}, backward, [&] { return ops::DiagonalScan(a, b, packed); }),
             {{4.0 * (backward ? 8 : 3) * static_cast<double>(T * D), &limits.read}});
  }

  const int64_t n = 64;
  const ops::Sequences few = EqualSequences(64, 64);
  const int64_t tokens = few.tokens();
  const Tensor which = torch::randint(120, {tokens}, torch::kInt64);
  const Tensor A = torch::randn({120, n, n}) / 8, B = torch::randn({tokens, n, n});
  // S <- A S + B with a state [n, n]: 2 n^3 flops a token, 6 n^3 with backward.
  for (const bool backward : {false, true}) {
    AddShare(table, fmt::format("matrices by token, 64 x 64{}", backward ? ", with backward" : ""),
             ForwardAndBackward({A, B}, backward, [&] { return ops::MatrixScan(A, B, few, c10::nullopt, which); }),
             {{(backward ? 6.0 : 2.0) * static_cast<double>(tokens * n * n * n), &limits.fma}});
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
             ForwardAndBackward({q, k, v}, backward, [&] { return ops::Attention(q, k, v, 0.125, packed, packed); }),
             {{(backward ? 14.0 : 4.0) * static_cast<double>(K) * pairs, &limits.fma}});
  }
}

// Against the same recurrence as a loop of torch operations, all sequences that still run at a time.
void AddGatedRnns(Table& table, const std::string& lengths, const ops::Sequences& packed) {
  const int64_t T = packed.tokens();
  using Form = ops::GatedRnnResult (*)(const Tensor&, const Tensor&, const Tensor&, const ops::GatedRnnOptions&,
                                       const ops::Sequences&, const c10::optional<Tensor>&);
  const auto add = [&](const std::string& name, int64_t H, int64_t K, Form fused, Form eager) {
    const Tensor x = torch::randn({T, H, 4, K}), R = torch::randn({H, K, 4, K}) / 16, bias = torch::randn({H, 4, K});
    for (const bool backward : {false, true}) {
      const auto work = [&](Form form) {
        return ForwardAndBackward({x, R, bias}, backward,
                                  [&, form] { return form(x, R, bias, {}, packed, c10::nullopt).y; });
      };
      table.Add(fmt::format("{}, {}: torch loop to kernel{}", name, lengths, backward ? ", with backward" : ""),
                MeasureRatio(work(eager), work(fused)), Goal::kAtLeast, 10);
    }
  };
  add("sLSTM, 4 heads of 32", 4, 32, ops::Slstm, ops::SlstmAten);
  add("LSTM, 128 wide", 1, 128, ops::Lstm, ops::LstmAten);
}

}  // namespace

void BenchOtherLayers(Table& table, const Limits& limits) {
  torch::manual_seed(1);
  table.Section("Other layers: share of their roofline, multiply-adds or memory");
  LinearAttentionProblem{32, 256, 4, 32, true}.Add(table, limits);
  LinearAttentionProblem{8, 256, 8, 64, true}.Add(table, limits);
  LinearAttentionProblem{32, 256, 4, 32, false}.Add(table, limits);
  LinearAttentionProblem{8, 256, 8, 64, false}.Add(table, limits);
  LinearAttentionProblem{8, 256, 8, 64, true}.AddCostOfSigns(table);
  LinearAttentionProblem{8, 256, 8, 64, false}.AddCostOfSigns(table);
  AddScans(table, limits);
  AddAttention(table, limits);
  AddGatedRnns(table, "1,024 x 3 to 40", MixedSequences(1024, 3, 40));
  AddGatedRnns(table, "512 x 40", EqualSequences(512, 40));
  AddGatedRnns(table, "16 x 1,024", EqualSequences(16, 1024));
}

}  // namespace lrnn::bench
