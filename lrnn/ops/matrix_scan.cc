#include "lrnn/ops/matrix_scan.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/matrix_scan.h"
#include "lrnn/ops/arguments.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
using OptionalTensor = c10::optional<Tensor>;

// [n, m] of the state.
at::IntArrayRef StateShape(const OptionalTensor& B, const OptionalTensor& initial) {
  return (B ? *B : *initial).sizes().slice(1);
}

// The state before each sequence, written out.
Tensor InitialStates(const Tensor& A, const OptionalTensor& B, const Sequences& sequences,
                     const OptionalTensor& initial) {
  if (initial) return *initial;
  return A.new_zeros({sequences.count(), A.size(1), StateShape(B, initial)[1]});
}

template <typename T>
kernels::MatrixScanInputs<T> KernelInputs(const Tensor& A, const Tensor& B, const Tensor& initial,
                                          const Tensor& which) {
  return {Data<T>(A), Data<int64_t>(which), which.defined() ? A.size(0) : 0, Data<T>(B), Data<T>(initial)};
}

class MatrixScanFunction : public torch::autograd::Function<MatrixScanFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& A_any, const OptionalTensor& B_any,
                        const OptionalTensor& initial_any, const OptionalTensor& which_any,
                        const Sequences& sequences) {
    const Tensor A = A_any.contiguous(), B = Dense(B_any), initial = Dense(initial_any), which = Dense(which_any);
    const int64_t n = A.size(1), m = StateShape(B_any, initial_any)[1];
    const Tensor S = A.new_empty({sequences.tokens(), n, m});
    AT_DISPATCH_FLOATING_TYPES(A.scalar_type(), "matrix_scan", [&] {
      kernels::MatrixScan({sequences.count(), sequences.data(), n, m}, KernelInputs<scalar_t>(A, B, initial, which),
                          Data<scalar_t>(S), at::get_num_threads());
    });
    context->save_for_backward({A, initial, which, S});
    context->saved_data["has_B"] = B.defined();
    context->saved_data["cu_seqlens"] = torch::tensor(sequences.cu_seqlens(), torch::kInt32);
    return S;
  }

  static tensor_list backward(AutogradContext* context, tensor_list d_outputs) {
    CheckDifferentiatedOnce("matrix_scan", "MatrixScanAten");
    const auto saved = context->get_saved_variables();
    const Tensor &A = saved[0], &initial = saved[1], &which = saved[2], &S = saved[3];
    const Tensor cu_seqlens = context->saved_data["cu_seqlens"].toTensor();
    const Tensor d_S = d_outputs[0].contiguous(), d_A = torch::empty_like(A), d_B = torch::empty_like(S);
    const Tensor d_initial = initial.defined() ? torch::empty_like(initial) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(A.scalar_type(), "matrix_scan", [&] {
      kernels::MatrixScanBackward(
          {cu_seqlens.numel() - 1, cu_seqlens.data_ptr<int32_t>(), A.size(1), S.size(2)},
          KernelInputs<scalar_t>(A, Tensor(), initial, which), Data<scalar_t>(S), Data<scalar_t>(d_S),
          {Data<scalar_t>(d_A), Data<scalar_t>(d_B), Data<scalar_t>(d_initial)}, at::get_num_threads());
    });
    return {d_A, context->saved_data["has_B"].toBool() ? d_B : Tensor(), d_initial, Tensor(), Tensor()};
  }
};

void CheckArguments(const Tensor& A, const OptionalTensor& B, const Sequences& sequences, const OptionalTensor& initial,
                    const OptionalTensor& which) {
  const int64_t T = sequences.tokens();
  LRNN_CHECK(A.dim() == 3 && A.size(1) == A.size(2), "[matrix_scan] expected A of square matrices [., n, n], got [{}]",
             fmt::join(A.sizes(), ", "));
  const ArgumentCheck check("matrix_scan", "A", A);
  LRNN_CHECK(B || initial, "[matrix_scan] expected B or an initial state, got neither");
  const int64_t n = A.size(1), N = sequences.count();
  const Tensor& state = B ? *B : *initial;
  LRNN_CHECK(state.dim() == 3, "[matrix_scan] expected {} of three dimensions, got [{}]", B ? "B" : "initial",
             fmt::join(state.sizes(), ", "));
  const int64_t m = state.size(2);
  check.Shape("B", B, "[T, n, m]", {T, n, m});
  check.Shape("initial", initial, "[N, n, m]", {N, n, m});
  if (!which) {
    LRNN_CHECK(A.size(0) == T, "[matrix_scan] expected A of {} matrices, one for each token, got {}", T, A.size(0));
    return;
  }
  LRNN_CHECK(which->dim() == 1 && which->size(0) == T && which->scalar_type() == torch::kInt64,
             "[matrix_scan] expected which of {} int64 numbers, got [{}] of {}", T, fmt::join(which->sizes(), ", "),
             c10::toString(which->scalar_type()));
  if (T == 0) return;
  const int64_t low = which->min().item<int64_t>(), high = which->max().item<int64_t>();
  LRNN_CHECK(low >= 0 && high < A.size(0), "[matrix_scan] expected which in 0 .. {}, got {}", A.size(0) - 1,
             low < 0 ? low : high);
}

}  // namespace

Tensor MatrixScan(const Tensor& A, const OptionalTensor& B, const Sequences& sequences, const OptionalTensor& initial,
                  const OptionalTensor& which) {
  CheckArguments(A, B, sequences, initial, which);
  if (!HasKernel(A)) return MatrixScanAten(A, B, sequences, initial, which);
  return MatrixScanFunction::apply(A, B, initial, which, sequences);
}

Tensor MatrixScanAten(const Tensor& A, const OptionalTensor& B, const Sequences& sequences,
                      const OptionalTensor& initial, const OptionalTensor& which) {
  const StepOrder order(sequences);
  const auto split = [&](const OptionalTensor& x) { return x ? order.Split(*x) : std::vector<Tensor>(); };
  const auto places = split(which), transitions = split(which ? OptionalTensor() : A), terms = split(B);
  return ScanSteps(InitialStates(A, B, sequences, initial), order, [&](int64_t t, const Tensor& states) {
    const Tensor moved = (which ? A.index_select(0, places[t]) : transitions[t]).matmul(states);
    return B ? moved + terms[t] : moved;
  });
}

Tensor MatrixScanReference(const Tensor& A, const OptionalTensor& B, const Sequences& sequences,
                           const OptionalTensor& initial, const OptionalTensor& which) {
  const Tensor starts = InitialStates(A, B, sequences, initial);
  std::vector<Tensor> states{starts.slice(0, 0, 0)};
  for (int64_t i = 0; i < sequences.count(); ++i) {
    Tensor S = starts[i];
    for (int64_t t = sequences.begin(i); t < sequences.end(i); ++t) {
      S = A[which ? (*which)[t].item<int64_t>() : t].matmul(S);
      if (B) S = S + (*B)[t];
      states.push_back(S.unsqueeze(0));
    }
  }
  return torch::cat(states);
}

}  // namespace lrnn::ops
