#include "lrnn/ops/causal_conv.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/causal_conv.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
using OptionalTensor = c10::optional<Tensor>;

Tensor OrUndefined(const OptionalTensor& tensor) { return tensor ? *tensor : Tensor(); }
OptionalTensor IfDefined(const OptionalTensor& tensor) { return tensor && tensor->defined() ? tensor : c10::nullopt; }

void CheckArguments(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sequences& sequences,
                    const Tensor& initial_state) {
  LRNN_CHECK(x.dim() == 2 && x.size(0) == sequences.tokens(),
             "[causal_conv] expected x of shape [T, D] with T = {}, got [{}]", sequences.tokens(),
             fmt::join(x.sizes(), ", "));
  const ArgumentCheck check("causal_conv", "x", x);
  const int64_t D = x.size(1);
  LRNN_CHECK(weight.dim() == 2 && weight.size(0) == D,
             "[causal_conv] expected weight of shape [D, W] with D = {}, got [{}]", D, fmt::join(weight.sizes(), ", "));
  LRNN_CHECK(weight.size(1) >= 1, "[causal_conv] expected weight of width W >= 1, got {}", weight.size(1));
  check.TypeAndDevice("weight", weight);
  if (bias.defined()) check.Shape("bias", bias, "[D]", {D});
  if (initial_state.defined()) {
    check.Shape("initial_state", initial_state, "[S, W-1, D]", {sequences.count(), weight.size(1) - 1, D});
  }
}

// The tensor itself if the kernel can read its rows in place.
Tensor Rows(const Tensor& tensor) { return tensor.stride(1) == 1 ? tensor : tensor.contiguous(); }
Tensor EmptyLike(const Tensor& tensor) { return tensor.defined() ? tensor.new_empty(tensor.sizes()) : tensor; }

template <typename Real>
kernels::CausalConvInput<Real> KernelInput(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                           const Tensor& initial_state, bool silu, const int32_t* cu_seqlens,
                                           int64_t sequences) {
  return {.cu_seqlens = cu_seqlens,
          .S = sequences,
          .D = x.size(1),
          .W = weight.size(1),
          .x = Data<Real>(x),
          .x_stride = x.stride(0),
          .weight = Data<Real>(weight),
          .bias = Data<Real>(bias),
          .initial_state = Data<Real>(initial_state),
          .silu = silu};
}

class CausalConvFunction : public torch::autograd::Function<CausalConvFunction> {
 public:
  // Gives y and, if asked for, the final state.
  static tensor_list forward(AutogradContext* context, const Tensor& x_any, const Tensor& weight_any,
                             const OptionalTensor& bias_any, const OptionalTensor& initial_any,
                             const CausalConvOptions& options, const Sequences& sequences) {
    const Tensor x = Rows(x_any), weight = Dense(weight_any);
    const Tensor bias = Dense(bias_any), initial = Dense(initial_any);
    tensor_list outputs{x.new_empty(x.sizes())};
    if (options.return_final_state) {
      outputs.push_back(x.new_empty({sequences.count(), weight.size(1) - 1, x.size(1)}));
    }
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "causal_conv", [&] {
      kernels::CausalConv(
          KernelInput<scalar_t>(x, weight, bias, initial, options.silu, sequences.data(), sequences.count()),
          Data<scalar_t>(outputs[0]), options.return_final_state ? Data<scalar_t>(outputs[1]) : nullptr,
          at::get_num_threads());
    });
    context->set_materialize_grads(false);
    context->save_for_backward({x, weight, bias, initial});
    context->saved_data["silu"] = options.silu;
    context->saved_data["cu_seqlens"] = torch::tensor(sequences.cu_seqlens(), torch::kInt32);
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("causal_conv", "CausalConvAten");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2], &initial = saved[3];
    const Tensor cu_seqlens = context->saved_data["cu_seqlens"].toTensor();
    const Tensor dy = gradients[0].defined() ? Rows(gradients[0]) : torch::zeros_like(x);
    const Tensor dfinal = gradients.size() > 1 ? Dense(gradients[1]) : Tensor();
    const Tensor dx = EmptyLike(x), dweight = EmptyLike(weight), dbias = EmptyLike(bias), dinitial = EmptyLike(initial);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "causal_conv", [&] {
      kernels::CausalConvBackward(KernelInput<scalar_t>(x, weight, bias, initial, context->saved_data["silu"].toBool(),
                                                        cu_seqlens.data_ptr<int32_t>(), cu_seqlens.numel() - 1),
                                  static_cast<const scalar_t*>(Data<scalar_t>(dy)), dy.stride(0),
                                  static_cast<const scalar_t*>(Data<scalar_t>(dfinal)),
                                  {.dx = Data<scalar_t>(dx),
                                   .dweight = Data<scalar_t>(dweight),
                                   .dbias = Data<scalar_t>(dbias),
                                   .dinitial = Data<scalar_t>(dinitial)},
                                  at::get_num_threads());
    });
    return {dx, dweight, dbias, dinitial, Tensor(), Tensor()};
  }
};

// The row of a token, or of one before its sequence (position < 0), in the table [T + S (W-1), D] of tokens and states.
int64_t TableRow(const Sequences& sequences, int64_t W, int64_t s, int64_t position) {
  if (position >= 0) return sequences.begin(s) + position;
  return sequences.tokens() + s * (W - 1) + W - 1 + position;
}

}  // namespace

CausalConvResult CausalConv(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                            const CausalConvOptions& options, const Sequences& sequences,
                            const OptionalTensor& initial_state) {
  if (!HasKernel(x)) return CausalConvAten(x, weight, bias, options, sequences, initial_state);
  CheckArguments(x, weight, OrUndefined(bias), sequences, OrUndefined(initial_state));
  const auto outputs =
      CausalConvFunction::apply(x, weight, IfDefined(bias), IfDefined(initial_state), options, sequences);
  return {outputs[0], options.return_final_state ? outputs[1] : Tensor()};
}

CausalConvResult CausalConvAten(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                const CausalConvOptions& options, const Sequences& sequences,
                                const OptionalTensor& initial_state) {
  const Tensor b = OrUndefined(bias), initial = OrUndefined(initial_state);
  CheckArguments(x, weight, b, sequences, initial);
  const int64_t T = x.size(0), D = x.size(1), W = weight.size(1), S = sequences.count();
  const Tensor states = initial.defined() ? initial : x.new_zeros({S, W - 1, D});
  const Tensor table = torch::cat({x, states.reshape({S * (W - 1), D})});

  std::vector<int64_t> rows;  // [W, T]: for tap w the rows it multiplies; then [S, W-1]: the rows of the final state
  rows.reserve(W * T + S * (W - 1));
  for (int64_t w = 0; w < W; ++w) {
    for (int64_t s = 0; s < S; ++s) {
      for (int64_t t = 0; t < sequences.length(s); ++t) rows.push_back(TableRow(sequences, W, s, t - (W - 1) + w));
    }
  }
  for (int64_t s = 0; s < S; ++s) {
    for (int64_t j = 0; j < W - 1; ++j) rows.push_back(TableRow(sequences, W, s, sequences.length(s) - (W - 1) + j));
  }
  const Tensor index = torch::tensor(rows, torch::kInt64).to(x.device());

  Tensor p = b.defined() ? b.expand({T, D}) : x.new_zeros({T, D});
  for (int64_t w = 0; w < W; ++w)
    p = p + table.index_select(0, index.slice(0, w * T, (w + 1) * T)) * weight.select(1, w);
  CausalConvResult result;
  result.y = options.silu ? torch::silu(p) : p;
  if (options.return_final_state) {
    result.final_state = table.index_select(0, index.slice(0, W * T)).reshape({S, W - 1, D});
  }
  return result;
}

CausalConvResult CausalConvReference(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                     const CausalConvOptions& options, const Sequences& sequences,
                                     const OptionalTensor& initial_state) {
  const Tensor b = OrUndefined(bias), initial = OrUndefined(initial_state);
  CheckArguments(x, weight, b, sequences, initial);
  const int64_t D = x.size(1), W = weight.size(1);
  tensor_list y{x.slice(0, 0, 0)}, final_state{x.new_empty({0, W - 1, D})};
  for (int64_t s = 0; s < sequences.count(); ++s) {
    // The history, then the tokens: token t is row t + W-1.
    const Tensor inputs = torch::cat(
        {initial.defined() ? initial[s] : x.new_zeros({W - 1, D}), x.slice(0, sequences.begin(s), sequences.end(s))});
    for (int64_t t = 0; t < sequences.length(s); ++t) {
      Tensor p = b.defined() ? b : x.new_zeros({D});
      for (int64_t w = 0; w < W; ++w) p = p + weight.select(1, w) * inputs[t + w];
      y.push_back((options.silu ? p * torch::sigmoid(p) : p).unsqueeze(0));
    }
    final_state.push_back(inputs.slice(0, sequences.length(s)).unsqueeze(0));
  }
  return {torch::cat(y), options.return_final_state ? torch::cat(final_state) : Tensor()};
}

}  // namespace lrnn::ops
