#include "cli/theory_trained.h"

#include <algorithm>
#include <complex>

#include "lrnn/base/error.h"
#include "lrnn/models/model_files.h"
#include "lrnn/runtime/vocabulary.h"

namespace lrnn::cli {
namespace {

constexpr int64_t kTokens = 64;         // of each sequence
constexpr int64_t kMaxVocabulary = 64;  // tokens that are tried

// 0 when all are real and positive.
std::complex<double> LargestNotPositive(const torch::Tensor& eigenvalues) {
  const torch::Tensor values = eigenvalues.detach().reshape({-1}).to(torch::kComplexDouble).contiguous();
  std::complex<double> largest = 0.0;
  for (int64_t i = 0; i < values.numel(); ++i) {
    const auto value = static_cast<std::complex<double>>(values.data_ptr<c10::complex<double>>()[i]);
    const bool is_positive = value.imag() == 0.0 && value.real() >= 0.0;
    if (!is_positive && std::abs(value) > std::abs(largest)) largest = value;
  }
  return largest;
}

}  // namespace

Transitions ObservedEigenvalues(const std::filesystem::path& model_path) {
  torch::NoGradGuard no_grad;
  Model model = LoadModel(model_path);
  const Vocabulary vocabulary = Vocabulary::FromConfig(model->config());
  Transitions result;
  result.is_complete = model->eigenvalue_range().low >= 0.0;
  for (int64_t token = 0; token < std::min(model->vocab_size(), kMaxVocabulary); ++token) {
    const auto eigenvalues =
        model->Eigenvalues(torch::full({kTokens}, token, torch::kInt64), ops::Sequences::Single(kTokens));
    result.layers.resize(eigenvalues.size());
    for (size_t i = 0; i < eigenvalues.size(); ++i) {
      TransitionLayer& layer = result.layers[i];
      layer.depth = static_cast<int>(i) + 1;
      layer.name = fmt::format("layer {}", layer.depth);
      LRNN_CHECK(eigenvalues[i].defined(), "{}: {} is no linear RNN, of which the theorems speak", model_path.string(),
                 layer.name);
      const std::complex<double> value = LargestNotPositive(eigenvalues[i]);
      const Matrix A = value.imag() == 0.0 ? Matrix{{value.real()}}
                                           : Matrix{{value.real(), -value.imag()}, {value.imag(), value.real()}};
      layer.transitions.push_back({vocabulary.Name(static_cast<int32_t>(token)), A, {}});
    }
  }
  return result;
}

}  // namespace lrnn::cli
