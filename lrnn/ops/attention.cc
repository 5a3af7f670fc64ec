#include "lrnn/ops/attention.h"

#include <ATen/Parallel.h>

#include <limits>

#include "lrnn/base/error.h"
#include "lrnn/kernels/attention.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// The tensor itself if the kernel can read its rows in place: heads and their elements without gaps.
Tensor Rows(const Tensor& x) { return x.stride(2) == 1 && x.stride(1) == x.size(2) ? x : x.contiguous(); }

kernels::AttentionShape Shape(const Tensor& q, const Tensor& v, const Tensor& cu_queries, const Tensor& cu_keys) {
  return {cu_queries.numel() - 1,
          cu_queries.data_ptr<int32_t>(),
          cu_keys.data_ptr<int32_t>(),
          q.size(1),
          q.size(2),
          v.size(2)};
}

template <typename T>
kernels::AttentionInputs<T> Inputs(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  return {q.data_ptr<T>(), q.stride(0), k.data_ptr<T>(),      k.stride(0),
          v.data_ptr<T>(), v.stride(0), static_cast<T>(scale)};
}

class AttentionFunction : public torch::autograd::Function<AttentionFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& q_any, const Tensor& k_any, const Tensor& v_any,
                        double scale, const Sequences& queries, const Sequences& keys) {
    const Tensor q = Rows(q_any), k = Rows(k_any), v = Rows(v_any);
    const Tensor cu_queries = torch::tensor(queries.cu_seqlens(), torch::kInt32);
    const Tensor cu_keys = torch::tensor(keys.cu_seqlens(), torch::kInt32);
    const Tensor o = q.new_empty({q.size(0), q.size(1), v.size(2)}), log_sums = q.new_empty({q.size(0), q.size(1)});
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "attention", [&] {
      kernels::Attention(Shape(q, v, cu_queries, cu_keys), Inputs<scalar_t>(q, k, v, scale), o.data_ptr<scalar_t>(),
                         log_sums.data_ptr<scalar_t>(), at::get_num_threads());
    });
    context->save_for_backward({q, k, v, o, log_sums});
    context->saved_data["scale"] = scale;
    context->saved_data["cu_queries"] = cu_queries;
    context->saved_data["cu_keys"] = cu_keys;
    return o;
  }

  static tensor_list backward(AutogradContext* context, tensor_list d_outputs) {
    CheckDifferentiatedOnce("attention", "AttentionAten");
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &o = saved[3], &log_sums = saved[4];
    const Tensor d_o = d_outputs[0].contiguous();
    const Tensor d_q = q.new_empty(q.sizes()), d_k = k.new_empty(k.sizes()), d_v = v.new_empty(v.sizes());
    const double scale = context->saved_data["scale"].toDouble();
    const auto shape =
        Shape(q, v, context->saved_data["cu_queries"].toTensor(), context->saved_data["cu_keys"].toTensor());
    AT_DISPATCH_FLOATING_TYPES(q.scalar_type(), "attention", [&] {
      kernels::AttentionBackward(shape, Inputs<scalar_t>(q, k, v, scale), o.data_ptr<scalar_t>(),
                                 log_sums.data_ptr<scalar_t>(), d_o.data_ptr<scalar_t>(),
                                 {d_q.data_ptr<scalar_t>(), d_k.data_ptr<scalar_t>(), d_v.data_ptr<scalar_t>()},
                                 at::get_num_threads());
    });
    return {d_q, d_k, d_v, Tensor(), Tensor(), Tensor()};
  }
};

void CheckArguments(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Sequences& queries,
                    const Sequences& keys) {
  LRNN_CHECK(q.dim() == 3 && q.size(0) == queries.tokens(),
             "[attention] expected q of shape [T, H, K] with T = {}, got [{}]", queries.tokens(),
             fmt::join(q.sizes(), ", "));
  const ArgumentCheck check("attention", "q", q);
  LRNN_CHECK(v.dim() == 3, "[attention] expected v of shape [S, H, V], got [{}]", fmt::join(v.sizes(), ", "));
  check.Shape("k", k, "[S, H, K]", {keys.tokens(), q.size(1), q.size(2)});
  check.Shape("v", v, "[S, H, V]", {keys.tokens(), q.size(1), v.size(2)});
  LRNN_CHECK(scale > 0, "[attention] expected a positive scale, got {}", scale);
  LRNN_CHECK(keys.count() == queries.count(), "[attention] expected keys of {} sequences, got {}", queries.count(),
             keys.count());
  for (int64_t i = 0; i < keys.count(); ++i) {
    LRNN_CHECK(keys.length(i) >= queries.length(i), "[attention] expected at least {} keys in sequence {}, got {}",
               queries.length(i), i, keys.length(i));
  }
}

}  // namespace

Tensor Attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Sequences& queries,
                 const Sequences& keys) {
  CheckArguments(q, k, v, scale, queries, keys);
  if (!HasKernel(q)) return AttentionAten(q, k, v, scale, queries, keys);
  return AttentionFunction::apply(q, k, v, scale, queries, keys);
}

Tensor AttentionAten(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Sequences& queries,
                     const Sequences& keys) {
  std::vector<Tensor> outputs{q.new_empty({0, q.size(1), v.size(2)})};
  for (int64_t i = 0; i < queries.count(); ++i) {
    const auto heads_first = [](const Tensor& x, const Sequences& sequences, int64_t i) {
      return x.slice(0, sequences.begin(i), sequences.end(i)).transpose(0, 1);  // [H, T, .]
    };
    const Tensor scores = scale * heads_first(q, queries, i).matmul(heads_first(k, keys, i).transpose(1, 2));
    const Tensor unseen = torch::ones_like(scores).triu(1 + keys.length(i) - queries.length(i)).to(torch::kBool);
    const Tensor p = torch::softmax(scores.masked_fill(unseen, -std::numeric_limits<float>::infinity()), 2);
    outputs.push_back(p.matmul(heads_first(v, keys, i)).transpose(0, 1));
  }
  return torch::cat(outputs);
}

Tensor AttentionReference(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Sequences& queries,
                          const Sequences& keys) {
  std::vector<Tensor> outputs{q.new_empty({0, q.size(1), v.size(2)})};
  for (int64_t n = 0; n < queries.count(); ++n) {
    for (int64_t i = 0; i < queries.length(n); ++i) {
      const int64_t begin = keys.begin(n), end = keys.end(n) - queries.length(n) + i + 1;
      const Tensor scores = scale * (k.slice(0, begin, end) * q[queries.begin(n) + i]).sum(2);  // [keys, H]
      const Tensor weights = torch::exp(scores - std::get<0>(scores.max(0)).detach());
      const Tensor p = weights / weights.sum(0);
      outputs.push_back((p.unsqueeze(2) * v.slice(0, begin, end)).sum(0, true));
    }
  }
  return torch::cat(outputs);
}

}  // namespace lrnn::ops
