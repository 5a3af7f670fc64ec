#include "lrnn/ops/matrix_product.h"

#ifdef LRNN_ONEDNN
#include <dnnl.h>
#include <dnnl_debug.h>
#endif

#include <algorithm>

#include "lrnn/base/error.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

#ifdef LRNN_ONEDNN
// From one row to the next; torch's stride means nothing where there is one row.
int64_t RowStride(const Tensor& x) { return std::max(x.stride(0), x.size(1)); }
#endif

}  // namespace

void MatrixProduct(bool transpose_a, const Tensor& a, bool transpose_b, const Tensor& b, const Tensor& c, bool adds) {
  Tensor product = c;
  if (a.numel() == 0 || b.numel() == 0) {
    if (!adds) product.zero_();
    return;
  }
#ifdef LRNN_ONEDNN
  if (c.is_cpu() && c.scalar_type() == torch::kFloat32) {
    const dnnl_status_t status =
        dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', c.size(0), c.size(1), a.size(transpose_a ? 0 : 1),
                   1, a.data_ptr<float>(), RowStride(a), b.data_ptr<float>(), RowStride(b), adds ? 1 : 0,
                   c.data_ptr<float>(), RowStride(c));
    if (status != dnnl_success) throw Failure(fmt::format("[matrix_product] oneDNN: {}", dnnl_status2str(status)));
    return;
  }
#endif
  const Tensor left = transpose_a ? a.t() : a, right = transpose_b ? b.t() : b;
  adds ? product.addmm_(left, right) : torch::mm_out(product, left, right);
}

}  // namespace lrnn::ops
