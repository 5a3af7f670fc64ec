#include "lrnn/ops/block_diagonal.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/block_diagonal.h"
#include "lrnn/ops/arguments.h"
#include "lrnn/ops/matrix_product.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void CheckArguments(const Tensor& x, const Tensor& W) {
  LRNN_CHECK(x.dim() == 2 && W.dim() == 3 && x.size(1) == W.size(0) * W.size(2),
             "[block_diagonal] expected x of shape [T, blocks in] and W [blocks, out, in], got [{}] and [{}]",
             fmt::join(x.sizes(), ", "), fmt::join(W.sizes(), ", "));
  ArgumentCheck("block_diagonal", "x", x).TypeAndDevice("W", W);
}

bool AreSmall(const Tensor& W) { return W.size(1) == W.size(2) && W.size(1) < 16; }

kernels::BlockDiagonalShape ShapeOf(const Tensor& x, const Tensor& W) { return {x.size(0), W.size(0), W.size(1)}; }

// The columns of a block.
Tensor Part(const Tensor& x, int64_t block, int64_t width) { return x.slice(1, block * width, (block + 1) * width); }

class BlockDiagonalFunction : public torch::autograd::Function<BlockDiagonalFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_any, const Tensor& W_any) {
    const Tensor x = x_any.contiguous(), W = W_any.contiguous();
    const int64_t blocks = W.size(0), out = W.size(1), in = W.size(2);
    const Tensor y = x.new_empty({x.size(0), blocks * out});
    if (AreSmall(W)) {
      AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "block_diagonal", [&] {
        kernels::BlockDiagonal(ShapeOf(x, W), x.data_ptr<scalar_t>(), W.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(),
                               at::get_num_threads());
      });
    } else {
      for (int64_t b = 0; b < blocks; ++b) MatrixProduct(false, Part(x, b, in), true, W[b], Part(y, b, out));
    }
    context->save_for_backward({x, W});
    context->saved_data["wants_dx"] = x_any.requires_grad();
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("block_diagonal", "BlockDiagonalReference");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &W = saved[1];
    const Tensor dy = gradients[0].contiguous(), dW = W.new_empty(W.sizes());
    const Tensor dx = context->saved_data["wants_dx"].toBool() ? x.new_empty(x.sizes()) : Tensor();
    if (AreSmall(W)) {
      AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "block_diagonal", [&] {
        kernels::BlockDiagonalBackward(ShapeOf(x, W), x.data_ptr<scalar_t>(), W.data_ptr<scalar_t>(),
                                       dy.data_ptr<scalar_t>(), Data<scalar_t>(dx), dW.data_ptr<scalar_t>(),
                                       at::get_num_threads());
      });
    } else {
      const int64_t blocks = W.size(0), out = W.size(1), in = W.size(2);
      for (int64_t b = 0; b < blocks; ++b) {
        MatrixProduct(true, Part(dy, b, out), false, Part(x, b, in), dW[b]);
        if (dx.defined()) MatrixProduct(false, Part(dy, b, out), false, W[b], Part(dx, b, in));
      }
    }
    return {dx, dW};
  }
};

}  // namespace

Tensor BlockDiagonal(const Tensor& x, const Tensor& W) {
  CheckArguments(x, W);
  return HasKernel(x) ? BlockDiagonalFunction::apply(x, W) : BlockDiagonalReference(x, W);
}

Tensor BlockDiagonalReference(const Tensor& x, const Tensor& W) {
  CheckArguments(x, W);
  const Tensor blocks = x.view({x.size(0), W.size(0), W.size(2)}).transpose(0, 1);  // [blocks, T, in]
  return torch::bmm(blocks, W.transpose(1, 2)).transpose(0, 1).reshape({x.size(0), W.size(0) * W.size(1)});
}

}  // namespace lrnn::ops
