#include "lrnn/ops/gated_rnn.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/lstm.h"
#include "lrnn/kernels/slstm.h"
#include "lrnn/ops/arguments.h"
#include "lrnn/ops/matrix_product.h"

namespace lrnn::ops {
namespace {

using kernels::GatedRnnGradients;
using kernels::GatedRnnInputs;
using kernels::GatedRnnOutputs;
using kernels::GatedRnnShape;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// What the two cells differ in.
struct SlstmCell {
  static constexpr const char* kName = "slstm";
  static constexpr int64_t kStates = kernels::kSlstmStates;
  static constexpr auto Aten = SlstmAten;
  static int64_t SavedSize(const GatedRnnShape& shape) { return kernels::SlstmSavedSize(shape); }
  template <typename... Arguments>
  static void Forward(const Arguments&... arguments) {
    kernels::SlstmForward(arguments...);
  }
  template <typename... Arguments>
  static void Backward(const Arguments&... arguments) {
    kernels::SlstmBackward(arguments...);
  }
};

struct LstmCell {
  static constexpr const char* kName = "lstm";
  static constexpr int64_t kStates = kernels::kLstmStates;
  static constexpr auto Aten = LstmAten;
  static int64_t SavedSize(const GatedRnnShape& shape) { return kernels::LstmSavedSize(shape); }
  template <typename... Arguments>
  static void Forward(const Arguments&... arguments) {
    kernels::LstmForward(arguments...);
  }
  template <typename... Arguments>
  static void Backward(const Arguments&... arguments) {
    kernels::LstmBackward(arguments...);
  }
};

// [T, H, K]: y_{t-1} of every token, from the initial state (or 0) at a sequence's first.
Tensor PreviousOutputs(const Tensor& y, const Tensor& initial_state, const std::vector<int64_t>& cu_seqlens) {
  const Tensor previous = torch::empty_like(y);
  if (y.size(0) > 1) previous.slice(0, 1).copy_(y.slice(0, 0, -1));
  std::vector<int64_t> firsts, started;
  for (size_t i = 0; i + 1 < cu_seqlens.size(); ++i) {
    if (cu_seqlens[i] == cu_seqlens[i + 1]) continue;
    firsts.push_back(cu_seqlens[i]);
    started.push_back(static_cast<int64_t>(i));
  }
  const auto index = [](const std::vector<int64_t>& places) {
    return torch::tensor(places, torch::TensorOptions(torch::kInt64));
  };
  if (!initial_state.defined()) return previous.index_fill_(0, index(firsts), 0);
  return previous.index_copy_(0, index(firsts), initial_state.select(1, 0).index_select(0, index(started)));
}

template <typename Cell>
class GatedRnnFunction : public torch::autograd::Function<GatedRnnFunction<Cell>> {
 public:
  // Gives y and, if asked for, the final state.
  static tensor_list forward(AutogradContext* context, const Tensor& x_any, const Tensor& R_any, const Tensor& bias_any,
                             const c10::optional<Tensor>& initial_any, bool return_final_state,
                             const Sequences& sequences, bool will_differentiate) {
    const int64_t H = R_any.size(0), K = R_any.size(1), N = sequences.count();
    const bool rows_are_whole = x_any.stride(3) == 1 && x_any.stride(2) == K;
    const Tensor x = rows_are_whole ? x_any : x_any.contiguous(), R = R_any.contiguous(), bias = bias_any.contiguous();
    const Tensor initial = Dense(initial_any);
    const GatedRnnShape shape{N, sequences.data(), H, K};
    tensor_list outputs{x.new_empty({x.size(0), H, K})};
    if (return_final_state) outputs.push_back(x.new_empty({N, Cell::kStates, H, K}));
    Tensor saved;
    if (will_differentiate) {
      saved = x.new_empty({Cell::SavedSize(shape)});
      context->set_materialize_grads(false);
      context->save_for_backward({R, bias, initial, saved, outputs[0]});
      context->saved_data["cu_seqlens"] =
          std::vector<int64_t>(sequences.cu_seqlens().begin(), sequences.cu_seqlens().end());
    }
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), Cell::kName, [&] {
      const GatedRnnInputs<scalar_t> in{Data<scalar_t>(x), x.stride(0),          x.stride(1),
                                        Data<scalar_t>(R), Data<scalar_t>(bias), Data<scalar_t>(initial)};
      const GatedRnnOutputs<scalar_t> out{
          Data<scalar_t>(outputs[0]), return_final_state ? Data<scalar_t>(outputs[1]) : nullptr, Data<scalar_t>(saved)};
      Cell::Forward(shape, in, out, at::get_num_threads());
    });
    return outputs;
  }

  static tensor_list backward(AutogradContext* context, tensor_list d_outputs) {
    CheckDifferentiatedOnce(Cell::kName, "the ATen form");
    const auto kept = context->get_saved_variables();
    const Tensor &R = kept[0], &bias = kept[1], &initial = kept[2], &saved = kept[3], &y = kept[4];
    const std::vector<int64_t> cu_seqlens = context->saved_data["cu_seqlens"].toIntVector();
    const std::vector<int32_t> boundaries(cu_seqlens.begin(), cu_seqlens.end());
    const int64_t T = y.size(0), H = R.size(0), K = R.size(1);
    const GatedRnnShape shape{static_cast<int64_t>(boundaries.size()) - 1, boundaries.data(), H, K};
    const Tensor d_y = d_outputs[0].defined() ? d_outputs[0].contiguous() : torch::zeros_like(y);
    const Tensor d_final = d_outputs.size() > 1 ? Dense(d_outputs[1]) : Tensor();
    const Tensor d_x = y.new_empty({T, H, 4, K}), d_bias = torch::empty_like(bias), d_R = torch::empty_like(R);
    const Tensor d_initial = initial.defined() ? torch::empty_like(initial) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), Cell::kName, [&] {
      const GatedRnnInputs<scalar_t> in{
          nullptr, 0, 0, Data<scalar_t>(R), Data<scalar_t>(bias), Data<scalar_t>(initial)};
      const GatedRnnGradients<scalar_t> out{Data<scalar_t>(d_x), d_x.stride(0), d_x.stride(1), Data<scalar_t>(d_bias),
                                            Data<scalar_t>(d_initial)};
      const scalar_t* const d_final_data = Data<scalar_t>(d_final);
      Cell::Backward(shape, in, static_cast<const scalar_t*>(Data<scalar_t>(saved)),
                     static_cast<const scalar_t*>(Data<scalar_t>(d_y)), d_final_data, out, at::get_num_threads());
    });
    const Tensor previous = PreviousOutputs(y, initial, cu_seqlens);
    for (int64_t h = 0; h < H; ++h) {
      MatrixProduct(true, previous.select(1, h), false, d_x.select(1, h).flatten(1), d_R[h].view({K, 4 * K}));
    }
    return {d_x, d_R, d_bias, d_initial, Tensor(), Tensor(), Tensor()};
  }
};

template <typename Cell>
GatedRnnResult Run(const Tensor& x, const Tensor& R, const Tensor& bias, const GatedRnnOptions& options,
                   const Sequences& sequences, const c10::optional<Tensor>& initial_state) {
  const int64_t T = sequences.tokens();
  LRNN_CHECK(x.dim() == 4 && x.size(0) == T && x.size(2) == 4,
             "[{}] expected x of shape [T, H, 4, K] with T = {}, got [{}]", Cell::kName, T, fmt::join(x.sizes(), ", "));
  const ArgumentCheck check(Cell::kName, "x", x);
  const int64_t H = x.size(1), K = x.size(3);
  check.Shape("R", R, "[H, K, 4, K]", {H, K, 4, K});
  check.Shape("bias", bias, "[H, 4, K]", {H, 4, K});
  check.Shape("initial_state", initial_state, "[N, S, H, K]", {sequences.count(), Cell::kStates, H, K});
  if (!HasKernel(x)) return Cell::Aten(x, R, bias, options, sequences, initial_state);

  const bool will_differentiate =
      torch::GradMode::is_enabled() && (x.requires_grad() || R.requires_grad() || bias.requires_grad() ||
                                        (initial_state && initial_state->requires_grad()));
  const tensor_list outputs = GatedRnnFunction<Cell>::apply(x, R, bias, initial_state, options.return_final_state,
                                                            sequences, will_differentiate);
  return {outputs[0], options.return_final_state ? outputs[1] : Tensor()};
}

}  // namespace

GatedRnnResult Slstm(const Tensor& x, const Tensor& R, const Tensor& bias, const GatedRnnOptions& options,
                     const Sequences& sequences, const c10::optional<Tensor>& initial_state) {
  return Run<SlstmCell>(x, R, bias, options, sequences, initial_state);
}

GatedRnnResult Lstm(const Tensor& x, const Tensor& R, const Tensor& bias, const GatedRnnOptions& options,
                    const Sequences& sequences, const c10::optional<Tensor>& initial_state) {
  return Run<LstmCell>(x, R, bias, options, sequences, initial_state);
}

}  // namespace lrnn::ops
