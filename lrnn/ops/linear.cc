#include "lrnn/ops/linear.h"

#ifdef LRNN_ONEDNN
#include <dnnl.h>
#include <dnnl_debug.h>
#endif

#include "lrnn/base/error.h"
#include "lrnn/ops/bf16_product.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

#ifdef LRNN_ONEDNN

// c <- op(a) op(b), a and b both fp32 or both bf16, all row-major and contiguous, op(a): [M, K], op(b): [K, N], c: [M,
// N].
void Product(bool transpose_a, const Tensor& a, bool transpose_b, const Tensor& b, const Tensor& c) {
  if (a.scalar_type() == torch::kBFloat16) return Bf16Product(transpose_a, a, transpose_b, b, c);
  const int64_t M = c.size(0), N = c.size(1), K = a.size(transpose_a ? 0 : 1);
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', M, N, K, 1, a.data_ptr<float>(), a.size(1),
                 b.data_ptr<float>(), b.size(1), 0, c.data_ptr<float>(), N);
  if (status != dnnl_success) {
    throw Failure(fmt::format("[linear] oneDNN: {}", dnnl_status2str(status)));
  }
}

Tensor Matrix(const Tensor& x, torch::Dtype type) { return x.reshape({-1, x.size(-1)}).contiguous().to(type); }

// dy^T x: [out, in]. oneDNN multiplies [few, T] [T, many] faster than [many, T] [T, few]: twice as fast at 1,024 and
// 128.
Tensor WeightGradient(const Tensor& dy, const Tensor& x) {
  const int64_t out = dy.size(1), in = x.size(1);
  const bool transposed = out > 3 * in;
  const auto fp32 = dy.options().dtype(torch::kFloat32);
  const Tensor product = transposed ? torch::empty({in, out}, fp32) : torch::empty({out, in}, fp32);
  Product(true, transposed ? x : dy, false, transposed ? dy : x, product);
  return transposed ? product.t().contiguous() : product;
}

// is_bf16: x, weight and dy are rounded to bf16 before they are multiplied, and y after. keeps_bf16: y stays so.
class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight_any, bool is_bf16,
                        bool keeps_bf16) {
    const auto type = is_bf16 ? torch::kBFloat16 : torch::kFloat32;
    const Tensor rows = Matrix(x, type), weight = Matrix(weight_any, type);
    std::vector<int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(0);
    const Tensor y = rows.new_empty({rows.size(0), weight.size(0)});
    Product(false, rows, true, weight, y);
    context->save_for_backward({rows, weight});
    context->saved_data["x_shape"] = x.sizes().vec();
    context->saved_data["wants_dx"] = x.requires_grad();
    context->saved_data["x_type"] = static_cast<int64_t>(x.scalar_type());
    return (keeps_bf16 ? y : y.to(torch::kFloat32)).view(shape);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    LRNN_CHECK(!torch::GradMode::is_enabled(),
               "[linear] the product by oneDNN can be differentiated once; use torch::linear for more");
    const auto saved = context->get_saved_variables();
    const Tensor &rows = saved[0], &weight = saved[1];
    const Tensor dy = Matrix(gradients[0], rows.scalar_type());
    Tensor dx;
    if (context->saved_data["wants_dx"].toBool()) {
      const auto x_type = static_cast<torch::Dtype>(context->saved_data["x_type"].toInt());
      dx = torch::empty(rows.sizes(), gradients[0].options().dtype(x_type));
      Product(false, dy, false, weight, dx);
      dx = dx.view(context->saved_data["x_shape"].toIntVector());
    }
    return {dx, WeightGradient(dy, rows), Tensor(), Tensor()};
  }
};

bool OneDnnTakes(const Tensor& x, const Tensor& weight, bool x_may_be_bf16 = false) {
  const auto is = [](const Tensor& t, torch::Dtype type) { return t.is_cpu() && t.scalar_type() == type; };
  return (is(x, torch::kFloat32) || (x_may_be_bf16 && is(x, torch::kBFloat16))) && is(weight, torch::kFloat32) &&
         x.numel() > 0 && weight.numel() > 0;
}

#endif  // LRNN_ONEDNN

thread_local bool rounds_to_bf16 = false;

Tensor Multiply(const Tensor& x, const Tensor& weight, const Tensor& bias) {
#ifdef LRNN_ONEDNN
  if (OneDnnTakes(x, weight)) {
    const Tensor y = LinearFunction::apply(x, weight, /*is_bf16=*/false, /*keeps_bf16=*/false);
    return bias.defined() ? y + bias : y;
  }
#endif
  return torch::linear(x, weight, bias);
}

Tensor Rounded(const Tensor& x) { return x.defined() ? x.to(torch::kBFloat16).to(x.scalar_type()) : x; }

}  // namespace

RoundLinearToBf16::RoundLinearToBf16(bool on) : before_(rounds_to_bf16) { rounds_to_bf16 = on; }
RoundLinearToBf16::~RoundLinearToBf16() { rounds_to_bf16 = before_; }

Tensor RoundedLikeLinear(const Tensor& x) { return rounds_to_bf16 ? Rounded(x) : x; }

Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias, LinearOutput output) {
  LRNN_CHECK(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1),
             "[linear] expected x of shape [..., in] and weight [out, in], got [{}] and [{}]",
             fmt::join(x.sizes(), ", "), fmt::join(weight.sizes(), ", "));
  LRNN_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)),
             "[linear] expected bias of shape [{}], got [{}]", weight.size(0), fmt::join(bias.sizes(), ", "));
  if (!rounds_to_bf16) return Multiply(x, weight, bias);
#ifdef LRNN_ONEDNN
  if (HasBf16Products() && OneDnnTakes(x, weight, /*x_may_be_bf16=*/true) && !bias.defined()) {
    return LinearFunction::apply(x, weight, /*is_bf16=*/true, output == LinearOutput::kAsMultiplied);
  }
#endif
  return Rounded(Multiply(Rounded(x), Rounded(weight), Rounded(bias)));
}

}  // namespace lrnn::ops
