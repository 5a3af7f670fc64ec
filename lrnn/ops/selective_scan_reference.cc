#include "lrnn/ops/selective_scan.h"

namespace lrnn::ops {

SelectiveScanResult SelectiveScanReference(const torch::Tensor& u, const torch::Tensor& delta, const torch::Tensor& A,
                                           const torch::Tensor& B, const torch::Tensor& C,
                                           const c10::optional<torch::Tensor>& D, const c10::optional<torch::Tensor>& z,
                                           const c10::optional<torch::Tensor>& delta_bias,
                                           const SelectiveScanOptions& options, const Sequences& sequences,
                                           const c10::optional<torch::Tensor>& initial_state) {
  std::vector<torch::Tensor> outputs{u.new_empty({0, u.size(1)})}, states;
  for (int64_t s = 0; s < sequences.count(); ++s) {
    torch::Tensor h = initial_state ? (*initial_state)[s] : torch::zeros_like(A);  // [D, N]
    for (int64_t t = sequences.begin(s); t < sequences.end(s); ++t) {
      torch::Tensor dt = delta_bias ? delta[t] + *delta_bias : delta[t];
      if (options.delta_softplus) dt = torch::softplus(dt);
      torch::Tensor a = torch::exp(dt.unsqueeze(1) * A);
      if (options.allow_neg_eigval) a = 2 * a - 1;
      h = a * h + (dt * u[t]).unsqueeze(1) * B[t];
      torch::Tensor y = h.mv(C[t]);
      if (D) y = y + *D * u[t];
      if (z) y = y * torch::silu((*z)[t]);
      outputs.push_back(y.unsqueeze(0));
    }
    states.push_back(h);
  }
  SelectiveScanResult result{torch::cat(outputs), {}};
  if (options.return_final_state) {
    result.final_state = states.empty() ? u.new_zeros({0, A.size(0), A.size(1)}) : torch::stack(states);
  }
  return result;
}

}  // namespace lrnn::ops
