// The machine's limits as rows, matrix products (those of ops::Linear) among them.

#include "bench/benchmarks.h"
#include "lrnn/ops/linear.h"
#include "lrnn/ops/torch.h"

namespace lrnn::bench {
namespace {

void AddProduct(Table& table, const std::string& name, int64_t rows, int64_t inner, int64_t columns,
                torch::Dtype type) {
  const torch::Tensor a = torch::randn({rows, inner}).to(type), b = torch::randn({columns, inner}).to(type);
  const torch::NoGradGuard no_grad;
  const Duration time = Measure([&] { ops::Linear(a, b); });
  const double rate = 2 * static_cast<double>(rows * inner * columns) / time.seconds;
  table.Add(name, fmt::format("{:.0f} GFLOP/s", rate * 1e-9), time.contended);
}

}  // namespace

Limits BenchMachine(Table& table, int threads) {
  table.Section(fmt::format("Limits of this machine, {} threads", threads));
  const Limits limits{threads, FmaPeak(threads), ExpRate(threads), ReadBandwidth(threads)};
  table.Add("single-precision multiply-adds", fmt::format("{:.0f} GFLOP/s", limits.fma.Rate() * 1e-9));
  table.Add("exponentials", fmt::format("{:.2f} G/s", limits.exp.Rate() * 1e-9));
  table.Add("reading memory", fmt::format("{:.1f} GB/s", limits.read.Rate() * 1e-9));
  for (const auto& [name, type] : {std::pair{"fp32", torch::kFloat32}, std::pair{"bf16", torch::kBFloat16}}) {
    AddProduct(table, fmt::format("matrix product [20480 x 128] [128 x 128], {}", name), 20480, 128, 128, type);
    AddProduct(table, fmt::format("matrix product [1024 x 1024] [1024 x 1024], {}", name), 1024, 1024, 1024, type);
  }
  return limits;
}

}  // namespace lrnn::bench
