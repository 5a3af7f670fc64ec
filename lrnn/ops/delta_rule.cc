#include "lrnn/ops/delta_rule.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/delta_rule.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

kernels::DeltaRuleShape ShapeOf(const Tensor& q, const Tensor& v, const std::vector<int32_t>& cu_seqlens) {
  return {static_cast<int64_t>(cu_seqlens.size()) - 1, cu_seqlens.data(), q.size(1), q.size(2), v.size(3), v.size(1)};
}

template <typename T>
kernels::DeltaRuleInputs<T> InputsOf(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& beta,
                                     const Tensor& decay, const Tensor& initial_state, double scale) {
  return {Data<T>(q),           Data<T>(k), Data<T>(v), Data<T>(beta), Data<T>(decay), Data<T>(initial_state),
          static_cast<T>(scale)};
}

// Runs the kernel; `final_state`, `errors` and `states` may be undefined.
void RunForward(const kernels::DeltaRuleShape& shape, const Tensor& q, const Tensor& k, const Tensor& v,
                const Tensor& beta, const Tensor& decay, const Tensor& initial_state, double scale, const Tensor& o,
                const Tensor& final_state, const Tensor& errors, const Tensor& states) {
  AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "delta_rule", [&] {
    kernels::DeltaRuleForward(shape, InputsOf<scalar_t>(q, k, v, beta, decay, initial_state, scale), Data<scalar_t>(o),
                              Data<scalar_t>(final_state), {Data<scalar_t>(errors), Data<scalar_t>(states)},
                              at::get_num_threads());
  });
}

class DeltaRuleFunction : public torch::autograd::Function<DeltaRuleFunction> {
 public:
  // Gives o and, if asked for, the final state.
  static tensor_list forward(AutogradContext* context, const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
                             const Tensor& beta_in, const c10::optional<Tensor>& decay_in,
                             const c10::optional<Tensor>& initial_in, const DeltaRuleOptions& options,
                             const std::vector<int64_t>& cu_seqlens64, bool will_differentiate) {
    const Tensor q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous(), beta = beta_in.contiguous();
    const Tensor decay = Dense(decay_in), initial_state = Dense(initial_in);
    const std::vector<int32_t> cu_seqlens(cu_seqlens64.begin(), cu_seqlens64.end());
    const auto shape = ShapeOf(q, v, cu_seqlens);
    const int64_t H = shape.heads, K = shape.key_width, V = shape.value_width;
    tensor_list outputs{q.new_empty({q.size(0), H, V})};
    if (options.return_final_state) outputs.push_back(q.new_empty({shape.sequences, H, K, V}));
    Tensor errors, states;
    if (will_differentiate) {
      errors = torch::empty_like(v);
      states = q.new_empty({kernels::DeltaRuleSavedStates(shape), H, K, V});
      context->save_for_backward({q, k, v, beta, decay, initial_state, errors, states});
      context->saved_data["scale"] = options.scale;
      context->saved_data["cu_seqlens"] = cu_seqlens64;
      context->set_materialize_grads(false);
    }
    RunForward(shape, q, k, v, beta, decay, initial_state, options.scale, outputs[0],
               options.return_final_state ? outputs[1] : Tensor(), errors, states);
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list d_outputs) {
    CheckDifferentiatedOnce("delta_rule", "DeltaRuleAten");
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &beta = saved[3], &decay = saved[4],
                 &initial_state = saved[5];
    const std::vector<int64_t> cu_seqlens64 = context->saved_data["cu_seqlens"].toIntVector();
    const std::vector<int32_t> cu_seqlens(cu_seqlens64.begin(), cu_seqlens64.end());
    const auto shape = ShapeOf(q, v, cu_seqlens);
    const double scale = context->saved_data["scale"].toDouble();
    const Tensor d_o =
        d_outputs[0].defined() ? d_outputs[0].contiguous() : q.new_zeros({q.size(0), shape.heads, shape.value_width});
    const Tensor d_final = d_outputs.size() > 1 ? Dense(d_outputs[1]) : Tensor();
    const Tensor d_q = torch::empty_like(q), d_k = torch::empty_like(k), d_v = torch::empty_like(v),
                 d_beta = torch::empty_like(beta);
    const Tensor d_decay = decay.defined() ? torch::empty_like(decay) : Tensor();
    const Tensor d_initial = initial_state.defined() ? torch::empty_like(initial_state) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "delta_rule", [&] {
      kernels::DeltaRuleBackward(shape, InputsOf<scalar_t>(q, k, v, beta, decay, initial_state, scale),
                                 {Data<scalar_t>(saved[6]), Data<scalar_t>(saved[7])}, Data<scalar_t>(d_o),
                                 Data<scalar_t>(d_final),
                                 {Data<scalar_t>(d_q), Data<scalar_t>(d_k), Data<scalar_t>(d_v), Data<scalar_t>(d_beta),
                                  Data<scalar_t>(d_decay), Data<scalar_t>(d_initial)},
                                 at::get_num_threads());
    });
    return {d_q, d_k, d_v, d_beta, d_decay, d_initial, Tensor(), Tensor(), Tensor()};
  }
};

void CheckArguments(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& beta,
                    const c10::optional<Tensor>& decay, const Sequences& sequences,
                    const c10::optional<Tensor>& initial_state) {
  const int64_t T = sequences.tokens();
  LRNN_CHECK(q.dim() == 3 && q.size(0) == T, "[delta_rule] expected q of shape [T, H, K] with T = {}, got [{}]", T,
             fmt::join(q.sizes(), ", "));
  const ArgumentCheck check("delta_rule", "q", q);
  LRNN_CHECK(k.dim() == 4 && k.size(1) > 0, "[delta_rule] expected k of shape [T, n_h, H, K], got [{}]",
             fmt::join(k.sizes(), ", "));
  LRNN_CHECK(v.dim() == 4, "[delta_rule] expected v of shape [T, n_h, H, V], got [{}]", fmt::join(v.sizes(), ", "));
  const int64_t n = k.size(1), H = q.size(1), K = q.size(2), V = v.size(3);
  check.Shape("k", k, "[T, n_h, H, K]", {T, n, H, K});
  check.Shape("v", v, "[T, n_h, H, V]", {T, n, H, V});
  check.Shape("beta", beta, "[T, n_h, H]", {T, n, H});
  check.Shape("decay", decay, "[T, H]", {T, H});
  check.Shape("initial_state", initial_state, "[N, H, K, V]", {sequences.count(), H, K, V});
}

}  // namespace

DeltaRuleResult DeltaRule(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& beta,
                          const c10::optional<Tensor>& decay, const DeltaRuleOptions& options,
                          const Sequences& sequences, const c10::optional<Tensor>& initial_state) {
  CheckArguments(q, k, v, beta, decay, sequences, initial_state);
  if (!HasKernel(q)) return DeltaRuleAten(q, k, v, beta, decay, options, sequences, initial_state);

  const auto differentiable = [](const Tensor& tensor) { return tensor.requires_grad(); };
  const bool will_differentiate =
      torch::GradMode::is_enabled() &&
      (differentiable(q) || differentiable(k) || differentiable(v) || differentiable(beta) ||
       (decay && differentiable(*decay)) || (initial_state && differentiable(*initial_state)));
  const std::vector<int64_t> cu_seqlens(sequences.cu_seqlens().begin(), sequences.cu_seqlens().end());
  const auto outputs =
      DeltaRuleFunction::apply(q, k, v, beta, decay, initial_state, options, cu_seqlens, will_differentiate);
  return {outputs[0], options.return_final_state ? outputs[1] : Tensor()};
}

}  // namespace lrnn::ops
