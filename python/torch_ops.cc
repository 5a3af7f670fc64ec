// The operations of lrnn as torch operators, torch.ops.lrnn.*: what the Python package calls.
//
// Shapes, types and gradients are those of lrnn/ops; cu_seqlens is a vector of integers on any device. The operators
// with the suffix _aten run the ATen form on every device, as tensors that are not on the CPU do anyway.
#include <torch/library.h>

#include <string>
#include <tuple>

#include "lrnn/base/version.h"
#include "lrnn/ops/delta_rule.h"
#include "lrnn/ops/l2_norm.h"
#include "lrnn/ops/selective_scan.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using OptionalTensor = c10::optional<Tensor>;

// A recurrence keeps the type of its arguments: autocast would take the products inside the ATen forms to half
// precision.
struct WithoutAutocast {
  c10::impl::ExcludeDispatchKeyGuard guard{c10::autocast_dispatch_keyset};
};

template <auto kFunction>
std::tuple<Tensor, Tensor> DeltaRuleOperator(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& beta,
                                             const OptionalTensor& decay, double scale, const Tensor& cu_seqlens,
                                             const OptionalTensor& initial_state) {
  const WithoutAutocast without_autocast;
  const DeltaRuleResult result = kFunction(q, k, v, beta, decay, {.scale = scale, .return_final_state = true},
                                           Sequences(cu_seqlens), initial_state);
  return {result.o, result.final_state};
}

template <auto kFunction>
std::tuple<Tensor, Tensor> SelectiveScanOperator(const Tensor& u, const Tensor& delta, const Tensor& A, const Tensor& B,
                                                 const Tensor& C, const OptionalTensor& D, const OptionalTensor& z,
                                                 const OptionalTensor& delta_bias, bool delta_softplus,
                                                 bool allow_neg_eigval, const Tensor& cu_seqlens,
                                                 const OptionalTensor& initial_state) {
  const WithoutAutocast without_autocast;
  const SelectiveScanOptions options{
      .delta_softplus = delta_softplus, .allow_neg_eigval = allow_neg_eigval, .return_final_state = true};
  const SelectiveScanResult result =
      kFunction(u, delta, A, B, C, D, z, delta_bias, options, Sequences(cu_seqlens), initial_state);
  return {result.y, result.final_state};
}

TORCH_LIBRARY(lrnn, library) {
  library.def("version() -> str", [] { return std::string(kVersion); });
  library.def("l2_norm(Tensor x, float eps) -> Tensor", &L2Norm);

  const std::string delta_rule =
      "(Tensor q, Tensor k, Tensor v, Tensor beta, Tensor? decay, float scale, Tensor cu_seqlens, "
      "Tensor? initial_state=None) -> (Tensor o, Tensor final_state)";
  library.def(("delta_rule" + delta_rule).c_str(), &DeltaRuleOperator<&DeltaRule>);
  library.def(("delta_rule_aten" + delta_rule).c_str(), &DeltaRuleOperator<&DeltaRuleAten>);

  const std::string selective_scan =
      "(Tensor u, Tensor delta, Tensor A, Tensor B, Tensor C, Tensor? D, Tensor? z, Tensor? delta_bias, "
      "bool delta_softplus, bool allow_neg_eigval, Tensor cu_seqlens, Tensor? initial_state=None) "
      "-> (Tensor y, Tensor final_state)";
  library.def(("selective_scan" + selective_scan).c_str(), &SelectiveScanOperator<&SelectiveScan>);
  library.def(("selective_scan_aten" + selective_scan).c_str(), &SelectiveScanOperator<&SelectiveScanAten>);
}

}  // namespace
}  // namespace lrnn::ops
