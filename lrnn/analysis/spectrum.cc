#include "lrnn/analysis/spectrum.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lrnn {
namespace {

constexpr int64_t kBins = 80;
constexpr int64_t kSequencesTogether = 8;  // a diagonal layer has thousands of eigenvalues a token

constexpr int64_t kMostHeads = 64;   // more are channels, taken together
constexpr size_t kMostLetters = 32;  // of DetailsJson

// The eigenvalues of one layer, by letter.
class LayerCounter {
 public:
  // eigenvalues: [T, ...], tokens: [T]
  void Add(const torch::Tensor& eigenvalues, const std::vector<int64_t>& tokens) {
    const int64_t heads = eigenvalues.dim() > 1 && eigenvalues.size(1) <= kMostHeads ? eigenvalues.size(1) : 1;
    std::map<int64_t, std::vector<int64_t>> rows;
    for (size_t t = 0; t < tokens.size(); ++t) rows[tokens[t]].push_back(static_cast<int64_t>(t));
    const torch::Tensor by_head = eigenvalues.detach().reshape({eigenvalues.size(0), heads, -1});
    for (const auto& [token, own] : rows) {
      const torch::Tensor values = by_head.index_select(0, torch::tensor(own, torch::kInt64));
      LetterSpectrum& letter = letters_[token];
      letter.heads.resize(heads);
      for (int64_t head = 0; head < heads; ++head) letter.heads[head].Add(values.select(1, head));
      letter.counts.resize(kBins);
      const torch::Tensor bins =
          ((torch::real(values).to(torch::kFloat64) + 1) * (kBins / 2.0)).floor().clamp(0, kBins - 1);
      const torch::Tensor counts = torch::bincount(bins.reshape({-1}).to(torch::kInt64), {}, kBins);
      for (int64_t bin = 0; bin < kBins; ++bin) letter.counts[bin] += counts.data_ptr<int64_t>()[bin];
    }
  }

  bool empty() const { return letters_.empty(); }

  LayerSpectrum Finish(size_t layer, const std::vector<std::string>& symbols) const {
    LayerSpectrum result{layer, {}, std::vector<int64_t>(kBins), 0, 0, 0, {}, {}};
    for (int64_t bin = 0; bin <= kBins; ++bin) result.edges.push_back(-1 + 2 * static_cast<double>(bin) / kBins);
    EigenvalueSummary all;
    for (const auto& [token, counted] : letters_) {
      LetterSpectrum letter = counted;
      letter.token = static_cast<int32_t>(token);
      letter.letter = symbols[token];
      result.heads.resize(letter.heads.size());
      for (size_t head = 0; head < letter.heads.size(); ++head) {
        letter.all.Add(letter.heads[head]);
        result.heads[head].Add(letter.heads[head]);
      }
      for (int64_t bin = 0; bin < kBins; ++bin) result.counts[bin] += letter.counts[bin];
      all.Add(letter.all);
      result.letters.push_back(std::move(letter));
    }
    result.min = all.min;
    result.max = all.max;
    result.share_negative = all.share_negative();
    return result;
  }

 private:
  std::map<int64_t, LetterSpectrum> letters_;
};

nlohmann::json SummaryJson(const EigenvalueSummary& summary) {
  return {{"min", summary.min},
          {"max", summary.max},
          {"mean", summary.mean()},
          {"share_negative", summary.share_negative()},
          {"largest_imaginary", summary.largest_imaginary}};
}

nlohmann::json SummaryJson(const std::vector<EigenvalueSummary>& summaries) {
  nlohmann::json list = nlohmann::json::array();
  for (const EigenvalueSummary& summary : summaries) list.push_back(SummaryJson(summary));
  return list;
}

}  // namespace

void EigenvalueSummary::Add(const torch::Tensor& eigenvalues) {
  const torch::Tensor values = torch::real(eigenvalues).to(torch::kFloat64);
  Add(EigenvalueSummary{
      .count = values.numel(),
      .negative = values.lt(0).sum().item<int64_t>(),
      .sum = values.sum().item<double>(),
      .min = values.min().item<double>(),
      .max = values.max().item<double>(),
      .largest_imaginary = eigenvalues.is_complex() ? torch::imag(eigenvalues).abs().max().item<double>() : 0});
}

void EigenvalueSummary::Add(const EigenvalueSummary& other) {
  count += other.count;
  negative += other.negative;
  sum += other.sum;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  largest_imaginary = std::max(largest_imaginary, other.largest_imaginary);
}

std::vector<size_t> LayersWithoutEigenvalues(Model& model) {
  std::vector<size_t> layers;
  for (size_t i = 0; i < model->blocks().size(); ++i) {
    if (!dynamic_cast<LinearMixer*>(&model->blocks()[i]->mixer())) layers.push_back(i);
  }
  return layers;
}

Spectrum MeasureSpectrum(Model& model, const Task& task, LengthRange lengths, int64_t sequences, uint64_t seed) {
  torch::NoGradGuard no_grad;
  std::vector<LayerCounter> counters(model->blocks().size());
  Spectrum spectrum{task.name(), model->eigenvalue_range(), 0, {}};
  for (int64_t first = 0; first < sequences; first += kSequencesTogether) {
    const Batch batch = MakeBatch(task, lengths, seed, static_cast<uint64_t>(first),
                                  std::min(kSequencesTogether, sequences - first), 1);
    const auto eigenvalues =
        model->Eigenvalues(torch::tensor(batch.tokens, torch::kInt64), ops::Sequences(batch.cu_seqlens));
    for (size_t layer = 0; layer < eigenvalues.size(); ++layer) {
      if (eigenvalues[layer].defined()) counters[layer].Add(eigenvalues[layer], batch.tokens);
    }
    spectrum.tokens += static_cast<int64_t>(batch.tokens.size());
  }
  const std::vector<std::string> symbols = task.symbols();
  for (size_t layer = 0; layer < counters.size(); ++layer) {
    if (!counters[layer].empty()) spectrum.layers.push_back(counters[layer].Finish(layer, symbols));
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

nlohmann::json DetailsJson(const Spectrum& spectrum) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LayerSpectrum& layer : spectrum.layers) {
    nlohmann::json letters;
    if (layer.letters.size() <= kMostLetters) {
      letters = nlohmann::json::array();
      for (const LetterSpectrum& letter : layer.letters) {
        nlohmann::json entry = SummaryJson(letter.all);
        entry.update({{"token", letter.token},
                      {"letter", letter.letter},
                      {"counts", letter.counts},
                      {"heads", SummaryJson(letter.heads)}});
        letters.push_back(entry);
      }
    }
    layers.push_back(
        {{"layer", layer.layer}, {"edges", layer.edges}, {"heads", SummaryJson(layer.heads)}, {"letters", letters}});
  }
  return {{"tokens", spectrum.tokens}, {"layers", layers}};
}

}  // namespace lrnn
