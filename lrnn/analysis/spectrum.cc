#include "lrnn/analysis/spectrum.h"

#include <algorithm>
#include <cmath>

namespace lrnn {
namespace {

constexpr int64_t kBins = 80;
constexpr int64_t kSequencesTogether = 8;  // a diagonal layer has thousands of eigenvalues a token

class Histogram {
 public:
  void Add(const torch::Tensor& eigenvalues) {
    const torch::Tensor values = torch::real(eigenvalues.detach()).reshape({-1}).to(torch::kFloat64);
    min_ = std::min(min_, values.min().item<double>());
    max_ = std::max(max_, values.max().item<double>());
    negative_ += values.lt(0).sum().item<int64_t>();
    total_ += values.numel();
    const torch::Tensor bins = ((values + 1) * (kBins / 2.0)).floor().clamp(0, kBins - 1).to(torch::kInt64);
    counts_ += torch::bincount(bins, {}, kBins);
  }

  bool empty() const { return total_ == 0; }

  LayerSpectrum Finish(size_t layer) const {
    LayerSpectrum result{
        layer, {}, {}, min_, max_, static_cast<double>(negative_) / static_cast<double>(std::max<int64_t>(1, total_))};
    for (int64_t bin = 0; bin <= kBins; ++bin) result.edges.push_back(-1 + 2 * static_cast<double>(bin) / kBins);
    for (int64_t bin = 0; bin < kBins; ++bin) result.counts.push_back(counts_[bin].item<int64_t>());
    return result;
  }

 private:
  torch::Tensor counts_ = torch::zeros({kBins}, torch::kInt64);
  double min_ = 1e300, max_ = -1e300;
  int64_t negative_ = 0, total_ = 0;
};

}  // namespace

Spectrum MeasureSpectrum(Model& model, const Task& task, LengthRange lengths, int64_t sequences, uint64_t seed) {
  torch::NoGradGuard no_grad;
  std::vector<Histogram> histograms(model->blocks().size());
  Spectrum spectrum{task.name(), model->eigenvalue_range(), 0, {}};
  for (int64_t first = 0; first < sequences; first += kSequencesTogether) {
    const Batch batch = MakeBatch(task, lengths, seed, static_cast<uint64_t>(first),
                                  std::min(kSequencesTogether, sequences - first), 1);
    const auto eigenvalues =
        model->Eigenvalues(torch::tensor(batch.tokens, torch::kInt64), ops::Sequences(batch.cu_seqlens));
    for (size_t layer = 0; layer < eigenvalues.size(); ++layer) {
      if (eigenvalues[layer].defined()) histograms[layer].Add(eigenvalues[layer]);
    }
    spectrum.tokens += static_cast<int64_t>(batch.tokens.size());
  }
  for (size_t layer = 0; layer < histograms.size(); ++layer) {
    if (!histograms[layer].empty()) spectrum.layers.push_back(histograms[layer].Finish(layer));
  }
  return spectrum;
}

nlohmann::json ToJson(const Spectrum& spectrum) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerSpectrum& layer : spectrum.layers) {
    layers.push_back({{"layer", layer.layer},
                      {"edges", layer.edges},
                      {"counts", layer.counts},
                      {"min", layer.min},
                      {"max", layer.max},
                      {"share_negative", layer.share_negative}});
  }
  // JSON has no infinity: a range without a bound ends where the measured values do.
  EigenvalueRange measured{-1, 1};
  for (const LayerSpectrum& layer : spectrum.layers) {
    measured = {std::min(measured.low, layer.min), std::max(measured.high, layer.max)};
  }
  const double low = std::isinf(spectrum.range.low) ? measured.low : spectrum.range.low;
  const double high = std::isinf(spectrum.range.high) ? measured.high : spectrum.range.high;
  return {{"format", "lrnn.spectrum"}, {"version", 1},    {"task", spectrum.task}, {"range", {low, high}},
          {"tokens", spectrum.tokens}, {"layers", layers}};
}

}  // namespace lrnn
