#include "lrnn/ops/linear_attention.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Every tensor of one call, contiguous, and what else the kernel wants to know.
struct Arguments {
  Tensor q, k, v, decay, initial_state;  // the last may be undefined
  double scale;
  kernels::LinearAttentionForm form;
  std::vector<int32_t> cu_seqlens;

  kernels::LinearAttentionShape Shape() const {
    return {static_cast<int64_t>(cu_seqlens.size()) - 1,
            cu_seqlens.data(),
            v.size(1),
            q.size(1),
            q.size(2),
            v.size(2),
            decay.dim() == 3,
            form};
  }

  template <typename T>
  kernels::LinearAttentionInputs<T> Inputs() const {
    return {Data<T>(q), Data<T>(k), Data<T>(v), Data<T>(decay), Data<T>(initial_state), static_cast<T>(scale)};
  }
};

class LinearAttentionFunction : public torch::autograd::Function<LinearAttentionFunction> {
 public:
  // Gives o and, if asked for, the final state.
  static tensor_list forward(AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                             const Tensor& decay, const c10::optional<Tensor>& initial_state,
                             const LinearAttentionOptions& options, const Sequences& sequences,
                             bool will_differentiate) {
    const Arguments arguments{q.contiguous(),       k.contiguous(), v.contiguous(), decay.contiguous(),
                              Dense(initial_state), options.scale,  options.form,   sequences.cu_seqlens()};
    const auto shape = arguments.Shape();
    tensor_list outputs{v.new_empty(v.sizes())};
    if (options.return_final_state) {
      outputs.push_back(v.new_empty({shape.sequences, shape.heads, shape.key_width, shape.value_width}));
    }
    Tensor chunk_states;
    if (will_differentiate) {
      chunk_states =
          v.new_empty({kernels::LinearAttentionChunkStates(shape), shape.heads, shape.key_width, shape.value_width});
      context->set_materialize_grads(false);
      context->save_for_backward(
          {arguments.q, arguments.k, arguments.v, arguments.decay, arguments.initial_state, chunk_states});
      context->saved_data["scale"] = options.scale;
      context->saved_data["form"] = static_cast<int64_t>(options.form);
      context->saved_data["cu_seqlens"] =
          std::vector<int64_t>(sequences.cu_seqlens().begin(), sequences.cu_seqlens().end());
    }
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "linear_attention", [&] {
      kernels::LinearAttentionForward(shape, arguments.Inputs<scalar_t>(), Data<scalar_t>(outputs[0]),
                                      options.return_final_state ? Data<scalar_t>(outputs[1]) : nullptr,
                                      Data<scalar_t>(chunk_states), at::get_num_threads());
    });
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list d_outputs) {
    CheckDifferentiatedOnce("linear_attention", "LinearAttentionAten");
    const auto saved = context->get_saved_variables();
    const std::vector<int64_t> cu_seqlens = context->saved_data["cu_seqlens"].toIntVector();
    const Arguments arguments{saved[0],
                              saved[1],
                              saved[2],
                              saved[3],
                              saved[4],
                              context->saved_data["scale"].toDouble(),
                              static_cast<kernels::LinearAttentionForm>(context->saved_data["form"].toInt()),
                              {cu_seqlens.begin(), cu_seqlens.end()}};
    const auto shape = arguments.Shape();
    const Tensor d_o = d_outputs[0].defined() ? d_outputs[0].contiguous() : torch::zeros_like(arguments.v);
    const Tensor d_final = d_outputs.size() > 1 ? Dense(d_outputs[1]) : Tensor();
    const int64_t T = arguments.q.size(0), H = shape.heads, G = shape.key_groups, K = shape.key_width;
    const Tensor d_q = d_o.new_empty({T, H, K}), d_k = torch::empty_like(d_q), d_v = torch::empty_like(arguments.v);
    const Tensor d_decay = torch::empty_like(arguments.decay);
    const Tensor d_initial = arguments.initial_state.defined() ? torch::empty_like(arguments.initial_state) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(d_o.scalar_type(), "linear_attention", [&] {
      kernels::LinearAttentionBackward(shape, arguments.Inputs<scalar_t>(), Data<scalar_t>(saved[5]),
                                       Data<scalar_t>(d_o), Data<scalar_t>(d_final),
                                       {Data<scalar_t>(d_q), Data<scalar_t>(d_k), Data<scalar_t>(d_v),
                                        Data<scalar_t>(d_decay), Data<scalar_t>(d_initial)},
                                       at::get_num_threads());
    });
    const auto of_groups = [&](const Tensor& d) { return G == H ? d : d.view({T, G, H / G, K}).sum(2); };
    return {of_groups(d_q), of_groups(d_k), d_v, d_decay, d_initial, Tensor(), Tensor(), Tensor()};
  }
};

void CheckArguments(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& decay, const Sequences& sequences,
                    const c10::optional<Tensor>& initial_state) {
  const int64_t T = sequences.tokens();
  LRNN_CHECK(q.dim() == 3 && q.size(0) == T, "[linear_attention] expected q of shape [T, G, K] with T = {}, got [{}]",
             T, fmt::join(q.sizes(), ", "));
  const ArgumentCheck check("linear_attention", "q", q);
  LRNN_CHECK(v.dim() == 3, "[linear_attention] expected v of shape [T, H, V], got [{}]", fmt::join(v.sizes(), ", "));
  const int64_t G = q.size(1), K = q.size(2), H = v.size(1), V = v.size(2);
  LRNN_CHECK(G > 0 && H % G == 0, "[linear_attention] expected q of a divisor of {} heads, got {}", H, G);
  check.Shape("k", k, "[T, G, K]", {T, G, K});
  check.Shape("v", v, "[T, H, V]", {T, H, V});
  if (decay.dim() == 3) {
    check.Shape("decay", decay, "[T, H, K]", {T, H, K});
  } else {
    check.Shape("decay", decay, "[T, H]", {T, H});
  }
  check.Shape("initial_state", initial_state, "[N, H, K, V]", {sequences.count(), H, K, V});
}

}  // namespace

LinearAttentionResult LinearAttention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& decay,
                                      const LinearAttentionOptions& options, const Sequences& sequences,
                                      const c10::optional<Tensor>& initial_state) {
  CheckArguments(q, k, v, decay, sequences, initial_state);
  if (!HasKernel(q)) return LinearAttentionAten(q, k, v, decay, options, sequences, initial_state);

  const bool will_differentiate =
      torch::GradMode::is_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                                        decay.requires_grad() || (initial_state && initial_state->requires_grad()));
  const tensor_list outputs =
      LinearAttentionFunction::apply(q, k, v, decay, initial_state, options, sequences, will_differentiate);
  return {outputs[0], options.return_final_state ? outputs[1] : Tensor()};
}

}  // namespace lrnn::ops
