#include "lrnn/ops/selective_scan.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/selective_scan.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
using OptionalTensor = c10::optional<Tensor>;

// The tensor itself if the kernel can read its rows in place.
Tensor Rows(const Tensor& tensor) {
  return tensor.stride(1) == 1 || tensor.size(1) == 1 ? tensor : tensor.contiguous();
}

// Every argument of one call, in the form the kernel reads. Undefined = not given.
struct Arguments {
  Tensor u, delta, A, B, C, D, z, delta_bias, initial_state;
  bool delta_softplus, allow_neg_eigval;
  std::vector<int32_t> cu_seqlens;

  int64_t sequences() const { return static_cast<int64_t>(cu_seqlens.size()) - 1; }

  template <typename Real>
  kernels::SelectiveScanInputs<Real> KernelInputs() const {
    kernels::SelectiveScanInputs<Real> in;
    in.channels = A.size(0);
    in.states = A.size(1);
    in.sequences = sequences();
    in.cu_seqlens = cu_seqlens.data();
    in.u = Data<Real>(u);
    in.u_stride = u.stride(0);
    in.delta = Data<Real>(delta);
    in.delta_stride = delta.stride(0);
    in.A = Data<Real>(A);
    in.B = Data<Real>(B);
    in.B_stride = B.stride(0);
    in.C = Data<Real>(C);
    in.C_stride = C.stride(0);
    in.D = Data<Real>(D);
    in.z = Data<Real>(z);
    in.z_stride = z.defined() ? z.stride(0) : 0;
    in.delta_bias = Data<Real>(delta_bias);
    in.initial_state = Data<Real>(initial_state);
    in.delta_softplus = delta_softplus;
    in.allow_neg_eigval = allow_neg_eigval;
    return in;
  }
};

class SelectiveScanFunction : public torch::autograd::Function<SelectiveScanFunction> {
 public:
  // Gives y and, if asked for, the final state.
  static tensor_list forward(AutogradContext* context, const Tensor& u, const Tensor& delta, const Tensor& A,
                             const Tensor& B, const Tensor& C, const OptionalTensor& D, const OptionalTensor& z,
                             const OptionalTensor& delta_bias, const OptionalTensor& initial_state,
                             const SelectiveScanOptions& options, const Sequences& sequences, bool will_differentiate) {
    const Arguments arguments{Rows(u),
                              Rows(delta),
                              Dense(A),
                              Rows(B),
                              Rows(C),
                              Dense(D),
                              z ? Rows(*z) : Tensor(),
                              Dense(delta_bias),
                              Dense(initial_state),
                              options.delta_softplus,
                              options.allow_neg_eigval,
                              sequences.cu_seqlens()};
    const int64_t channels = A.size(0), states = A.size(1);
    tensor_list outputs{u.new_empty({u.size(0), channels})};
    if (options.return_final_state) outputs.push_back(u.new_empty({sequences.count(), channels, states}));
    Tensor block_states;
    if (will_differentiate) {
      block_states =
          u.new_empty({kernels::SelectiveScanBlockStatesSize(channels, states, sequences.count(), sequences.data())});
      context->set_materialize_grads(false);
      context->save_for_backward({arguments.u, arguments.delta, arguments.A, arguments.B, arguments.C, arguments.D,
                                  arguments.z, arguments.delta_bias, arguments.initial_state, block_states});
      context->saved_data["delta_softplus"] = options.delta_softplus;
      context->saved_data["allow_neg_eigval"] = options.allow_neg_eigval;
      context->saved_data["cu_seqlens"] =
          std::vector<int64_t>(sequences.cu_seqlens().begin(), sequences.cu_seqlens().end());
    }
    AT_DISPATCH_FLOATING_TYPES(u.scalar_type(), "selective_scan", [&] {
      kernels::SelectiveScanOutputs<scalar_t> out;
      out.y = Data<scalar_t>(outputs[0]);
      out.y_stride = channels;
      if (options.return_final_state) out.final_state = Data<scalar_t>(outputs[1]);
      out.block_states = Data<scalar_t>(block_states);
      kernels::SelectiveScanForward(arguments.KernelInputs<scalar_t>(), out, at::get_num_threads());
    });
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("selective_scan", "SelectiveScanAten");
    const auto saved = context->get_saved_variables();
    const std::vector<int64_t> cu_seqlens = context->saved_data["cu_seqlens"].toIntVector();
    const Arguments arguments{saved[0],
                              saved[1],
                              saved[2],
                              saved[3],
                              saved[4],
                              saved[5],
                              saved[6],
                              saved[7],
                              saved[8],
                              context->saved_data["delta_softplus"].toBool(),
                              context->saved_data["allow_neg_eigval"].toBool(),
                              {cu_seqlens.begin(), cu_seqlens.end()}};
    const Tensor &u = arguments.u, &B = arguments.B;
    const Tensor dy = gradients[0].defined() ? Rows(gradients[0]) : torch::zeros_like(u);
    const Tensor dfinal_state = gradients.size() > 1 ? Dense(gradients[1]) : Tensor();
    const auto gradient_of = [](const Tensor& tensor) {
      return tensor.defined() ? tensor.new_empty(tensor.sizes()) : Tensor();
    };
    const Tensor du = gradient_of(u), ddelta = gradient_of(arguments.delta), dA = gradient_of(arguments.A);
    const Tensor dB = gradient_of(B), dC = gradient_of(arguments.C), dD = gradient_of(arguments.D);
    const Tensor dz = gradient_of(arguments.z), ddelta_bias = gradient_of(arguments.delta_bias);
    const Tensor dinitial_state = gradient_of(arguments.initial_state);
    AT_DISPATCH_FLOATING_TYPES(u.scalar_type(), "selective_scan", [&] {
      kernels::SelectiveScanGradInputs<scalar_t> grad;
      grad.dy = Data<scalar_t>(dy);
      grad.dy_stride = dy.stride(0);
      grad.dfinal_state = Data<scalar_t>(dfinal_state);
      grad.block_states = Data<scalar_t>(saved[9]);
      kernels::SelectiveScanGradOutputs<scalar_t> out;
      out.du = Data<scalar_t>(du);
      out.ddelta = Data<scalar_t>(ddelta);
      out.dA = Data<scalar_t>(dA);
      out.dB = Data<scalar_t>(dB);
      out.dC = Data<scalar_t>(dC);
      out.dD = Data<scalar_t>(dD);
      out.dz = Data<scalar_t>(dz);
      out.ddelta_bias = Data<scalar_t>(ddelta_bias);
      out.dinitial_state = Data<scalar_t>(dinitial_state);
      kernels::SelectiveScanBackward(arguments.KernelInputs<scalar_t>(), grad, out, at::get_num_threads());
    });
    return {du, ddelta, dA, dB, dC, dD, dz, ddelta_bias, dinitial_state, Tensor(), Tensor(), Tensor()};
  }
};

void CheckArguments(const Tensor& u, const Tensor& delta, const Tensor& A, const Tensor& B, const Tensor& C,
                    const OptionalTensor& D, const OptionalTensor& z, const OptionalTensor& delta_bias,
                    const Sequences& sequences, const OptionalTensor& initial_state) {
  const int64_t T = sequences.tokens();
  LRNN_CHECK(u.dim() == 2 && u.size(0) == T, "[selective_scan] expected u of shape [T, D] with T = {}, got [{}]", T,
             fmt::join(u.sizes(), ", "));
  const ArgumentCheck check("selective_scan", "u", u);
  const int64_t channels = u.size(1);
  LRNN_CHECK(A.dim() == 2 && A.size(0) == channels, "[selective_scan] expected A of shape [D, N] with D = {}, got [{}]",
             channels, fmt::join(A.sizes(), ", "));
  const int64_t N = A.size(1);
  check.Shape("delta", delta, "[T, D]", {T, channels});
  check.Shape("A", A, "[D, N]", {channels, N});
  check.Shape("B", B, "[T, N]", {T, N});
  check.Shape("C", C, "[T, N]", {T, N});
  check.Shape("D", D, "[D]", {channels});
  check.Shape("z", z, "[T, D]", {T, channels});
  check.Shape("delta_bias", delta_bias, "[D]", {channels});
  check.Shape("initial_state", initial_state, "[S, D, N]", {sequences.count(), channels, N});
}

}  // namespace

SelectiveScanResult SelectiveScan(const Tensor& u, const Tensor& delta, const Tensor& A, const Tensor& B,
                                  const Tensor& C, const OptionalTensor& D, const OptionalTensor& z,
                                  const OptionalTensor& delta_bias, const SelectiveScanOptions& options,
                                  const Sequences& sequences, const OptionalTensor& initial_state) {
  CheckArguments(u, delta, A, B, C, D, z, delta_bias, sequences, initial_state);
  if (!HasKernel(u)) return SelectiveScanAten(u, delta, A, B, C, D, z, delta_bias, options, sequences, initial_state);

  const auto differentiable = [](const OptionalTensor& tensor) { return tensor && tensor->requires_grad(); };
  bool will_differentiate = false;
  for (const OptionalTensor& tensor : {OptionalTensor(u), OptionalTensor(delta), OptionalTensor(A), OptionalTensor(B),
                                       OptionalTensor(C), D, z, delta_bias, initial_state}) {
    will_differentiate |= torch::GradMode::is_enabled() && differentiable(tensor);
  }
  const tensor_list outputs = SelectiveScanFunction::apply(u, delta, A, B, C, D, z, delta_bias, initial_state, options,
                                                           sequences, will_differentiate);
  return {outputs[0], options.return_final_state ? outputs[1] : Tensor()};
}

}  // namespace lrnn::ops
