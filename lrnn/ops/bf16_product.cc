#include "lrnn/ops/bf16_product.h"

#ifdef LRNN_ONEDNN
#include <dnnl.hpp>
#endif

#include "lrnn/base/error.h"

namespace lrnn::ops {

#ifdef LRNN_ONEDNN

bool HasBf16Products() {
  static const bool has = [] {
    const int wanted = static_cast<int>(dnnl::cpu_isa::avx512_core_bf16);  // each set of instructions is some bits
    return (static_cast<int>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
  }();
  return has;
}

void Bf16Product(bool transpose_a, const torch::Tensor& a, bool transpose_b, const torch::Tensor& b,
                 const torch::Tensor& c, bool adds) {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  thread_local dnnl::stream stream(engine);
  const int64_t M = c.size(0), N = c.size(1), K = a.size(transpose_a ? 0 : 1);
  using Type = dnnl::memory::data_type;
  const auto matrix = [](int64_t rows, int64_t columns, bool transposed, Type type = Type::bf16) {
    const dnnl::memory::dims strides = transposed ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1};
    return dnnl::memory::desc({rows, columns}, type, strides);
  };
  const auto memory = [&](const dnnl::memory::desc& desc, const torch::Tensor& x) {
    return dnnl::memory(desc, engine, x.data_ptr());
  };
  try {
    const auto a_desc = matrix(M, K, transpose_a), b_desc = matrix(K, N, transpose_b);
    const auto c_desc = matrix(M, N, false, c.scalar_type() == torch::kFloat32 ? Type::f32 : Type::bf16);
    dnnl::post_ops after;
    if (adds) after.append_sum();
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    // oneDNN keeps what it has compiled for a shape.
    const dnnl::matmul product({dnnl::matmul::desc(a_desc, b_desc, c_desc), attributes, engine});
    product.execute(
        stream,
        {{DNNL_ARG_SRC, memory(a_desc, a)}, {DNNL_ARG_WEIGHTS, memory(b_desc, b)}, {DNNL_ARG_DST, memory(c_desc, c)}});
    stream.wait();
  } catch (const dnnl::error& error) {
    throw Failure(fmt::format("[linear] oneDNN: {}", error.what()));
  }
}

#else

bool HasBf16Products() { return false; }

void Bf16Product(bool, const torch::Tensor&, bool, const torch::Tensor&, const torch::Tensor&, bool) {
  throw Failure("[linear] this build has no oneDNN");
}

#endif  // LRNN_ONEDNN

}  // namespace lrnn::ops
