#include "lrnn/ops/linear.h"

#include <numeric>

#include "lrnn/base/error.h"
#include "lrnn/ops/bf16_product.h"
#include "lrnn/ops/matrix_product.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

#ifdef LRNN_ONEDNN

// c <- op(a) op(b), or added to c; a and b both fp32 or both bf16, all contiguous.
void Product(bool transpose_a, const Tensor& a, bool transpose_b, const Tensor& b, const Tensor& c, bool adds = false) {
  const auto multiply = a.scalar_type() == torch::kBFloat16 ? Bf16Product : MatrixProduct;
  multiply(transpose_a, a, transpose_b, b, c, adds);
}

Tensor Matrix(const Tensor& x, torch::Dtype type) { return x.reshape({-1, x.size(-1)}).contiguous().to(type); }

// dweight <- dy^T x: [out, in]. oneDNN multiplies [few, T] [T, many] faster than [many, T] [T, few]: twice as fast at
// 1,024 and 128.
void WeightGradient(const Tensor& dy, const Tensor& x, Tensor dweight) {
  if (dweight.size(0) <= 3 * dweight.size(1)) return Product(true, dy, false, x, dweight);
  const Tensor transposed = dweight.new_empty({dweight.size(1), dweight.size(0)});
  Product(true, x, false, dy, transposed);
  dweight.copy_(transposed.t());
}

// y_i = x W_i^T, the W_i below each other in `weight`, of widths[i] rows each.
// is_bf16: x, weight and dy are rounded to bf16 before they are multiplied, and y after. keeps_bf16: y stays so.
class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x, const Tensor& weight_any,
                             const std::vector<int64_t>& widths, bool is_bf16, bool keeps_bf16) {
    const auto type = is_bf16 ? torch::kBFloat16 : torch::kFloat32;
    const Tensor rows = Matrix(x, type), weight = Matrix(weight_any, type);
    std::vector<int64_t> shape = x.sizes().vec();
    tensor_list results;
    for (const Tensor& part : weight.split_with_sizes(widths)) {
      const Tensor y = rows.new_empty({rows.size(0), part.size(0)});
      Product(false, rows, true, part, y);
      shape.back() = part.size(0);
      results.push_back((keeps_bf16 ? y : y.to(torch::kFloat32)).view(shape));
    }
    context->set_materialize_grads(false);
    context->save_for_backward({rows, weight});
    context->saved_data["widths"] = widths;
    context->saved_data["x_shape"] = x.sizes().vec();
    context->saved_data["wants_dx"] = x.requires_grad();
    context->saved_data["x_type"] = static_cast<int64_t>(x.scalar_type());
    return results;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    LRNN_CHECK(!torch::GradMode::is_enabled(),
               "[linear] the product by oneDNN can be differentiated once; use torch::linear for more");
    const auto saved = context->get_saved_variables();
    const Tensor &rows = saved[0], &weight = saved[1];
    const auto widths = context->saved_data["widths"].toIntVector();
    const auto weights = weight.split_with_sizes(widths);
    const Tensor dweight = torch::empty(weight.sizes(), weight.options().dtype(torch::kFloat32));
    const auto dweights = dweight.split_with_sizes(widths);
    const auto x_type = static_cast<torch::Dtype>(context->saved_data["x_type"].toInt());
    Tensor dx;
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) {
        dweights[i].zero_();
        continue;
      }
      const Tensor dy = Matrix(gradients[i], rows.scalar_type());
      WeightGradient(dy, rows, dweights[i]);
      if (!context->saved_data["wants_dx"].toBool()) continue;
      const bool adds = dx.defined();
      // A sum of several products is rounded once, at its end.
      if (!adds) dx = dweight.new_empty(rows.sizes(), widths.size() == 1 ? x_type : torch::kFloat32);
      Product(false, dy, false, weights[i], dx, adds);
    }
    if (dx.defined()) dx = dx.to(x_type).view(context->saved_data["x_shape"].toIntVector());
    return {dx, dweight, Tensor(), Tensor(), Tensor()};
  }
};

bool OneDnnTakes(const Tensor& x, const Tensor& weight, bool x_may_be_bf16 = false) {
  const auto is = [](const Tensor& t, torch::Dtype type) { return t.is_cpu() && t.scalar_type() == type; };
  return (is(x, torch::kFloat32) || (x_may_be_bf16 && is(x, torch::kBFloat16))) && is(weight, torch::kFloat32) &&
         x.numel() > 0 && weight.numel() > 0;
}

#endif  // LRNN_ONEDNN

thread_local bool rounds_to_bf16 = false;

std::vector<Tensor> MultiplyParts(const Tensor& x, const Tensor& weight, const std::vector<int64_t>& widths) {
#ifdef LRNN_ONEDNN
  if (OneDnnTakes(x, weight)) {
    return LinearFunction::apply(x, weight, widths, /*is_bf16=*/false, /*keeps_bf16=*/false);
  }
#endif
  return torch::linear(x, weight).split_with_sizes(widths, -1);
}

Tensor Rounded(const Tensor& x) { return x.defined() ? x.to(torch::kBFloat16).to(x.scalar_type()) : x; }

void CheckArguments(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  LRNN_CHECK(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1),
             "[linear] expected x of shape [..., in] and weight [out, in], got [{}] and [{}]",
             fmt::join(x.sizes(), ", "), fmt::join(weight.sizes(), ", "));
  LRNN_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)),
             "[linear] expected bias of shape [{}], got [{}]", weight.size(0), fmt::join(bias.sizes(), ", "));
}

}  // namespace

RoundLinearToBf16::RoundLinearToBf16(bool on) : before_(rounds_to_bf16) { rounds_to_bf16 = on; }
RoundLinearToBf16::~RoundLinearToBf16() { rounds_to_bf16 = before_; }

Tensor RoundedLikeLinear(const Tensor& x) { return rounds_to_bf16 ? Rounded(x) : x; }

std::vector<Tensor> LinearParts(const Tensor& x, const Tensor& weight, const std::vector<int64_t>& widths,
                                LinearOutput output) {
  CheckArguments(x, weight, {});
  LRNN_CHECK(std::accumulate(widths.begin(), widths.end(), int64_t{0}) == weight.size(0),
             "[linear] expected widths that add up to the {} rows of weight, got [{}]", weight.size(0),
             fmt::join(widths, ", "));
  if (!rounds_to_bf16) return MultiplyParts(x, weight, widths);
#ifdef LRNN_ONEDNN
  if (HasBf16Products() && OneDnnTakes(x, weight, /*x_may_be_bf16=*/true)) {
    return LinearFunction::apply(x, weight, widths, /*is_bf16=*/true, output == LinearOutput::kAsMultiplied);
  }
#endif
  std::vector<Tensor> parts = MultiplyParts(Rounded(x), Rounded(weight), widths);
  for (Tensor& y : parts) y = Rounded(y);
  return parts;
}

Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias, LinearOutput output) {
  CheckArguments(x, weight, bias);
  const std::vector<int64_t> all{weight.size(0)};
  if (!bias.defined()) return LinearParts(x, weight, all, output)[0];
  if (!rounds_to_bf16) return MultiplyParts(x, weight, all)[0] + bias;
  return Rounded(MultiplyParts(Rounded(x), Rounded(weight), all)[0] + Rounded(bias));
}

}  // namespace lrnn::ops
