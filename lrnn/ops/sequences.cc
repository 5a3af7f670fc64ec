#include "lrnn/ops/sequences.h"

#include <algorithm>
#include <limits>

#include "lrnn/base/error.h"

namespace lrnn::ops {

Sequences::Sequences(std::vector<int32_t> cu_seqlens) : cu_seqlens_(std::move(cu_seqlens)) {
  LRNN_CHECK(!cu_seqlens_.empty(), "[Sequences] expected cu_seqlens of at least one entry, got none");
  LRNN_CHECK(cu_seqlens_[0] == 0, "[Sequences] expected cu_seqlens to start at 0, got {}", cu_seqlens_[0]);
  for (size_t i = 1; i < cu_seqlens_.size(); ++i) {
    LRNN_CHECK(cu_seqlens_[i] >= cu_seqlens_[i - 1],
               "[Sequences] expected cu_seqlens that never decrease, got {} after {}", cu_seqlens_[i],
               cu_seqlens_[i - 1]);
  }
}

namespace {
std::vector<int32_t> ToVector(const torch::Tensor& cu_seqlens) {
  LRNN_CHECK(cu_seqlens.dim() == 1 && !cu_seqlens.is_floating_point(),
             "[Sequences] expected cu_seqlens as a vector of integers, got {} dimensions of {}", cu_seqlens.dim(),
             c10::toString(cu_seqlens.scalar_type()));
  const torch::Tensor values = cu_seqlens.to(torch::kCPU, torch::kInt32).contiguous();
  return {values.data_ptr<int32_t>(), values.data_ptr<int32_t>() + values.numel()};
}
}  // namespace

Sequences::Sequences(const torch::Tensor& cu_seqlens) : Sequences(ToVector(cu_seqlens)) {}

Sequences Sequences::FromLengths(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> cu_seqlens{0};
  int64_t total = 0;
  for (int64_t length : lengths) {
    LRNN_CHECK(length >= 0, "[Sequences] expected lengths >= 0, got {}", length);
    total += length;
    LRNN_CHECK(total <= std::numeric_limits<int32_t>::max(),
               "[Sequences] expected fewer than 2^31 tokens in a batch, got {}", total);
    cu_seqlens.push_back(static_cast<int32_t>(total));
  }
  return Sequences(std::move(cu_seqlens));
}

int64_t Sequences::max_length() const {
  int64_t longest = 0;
  for (int64_t i = 0; i < count(); ++i) longest = std::max(longest, length(i));
  return longest;
}

Sequences Sequences::WithIds(torch::Tensor ids) const {
  LRNN_CHECK(ids.dim() == 1 && ids.size(0) == tokens(), "[Sequences] expected {} ids in one dimension, got [{}]",
             tokens(), fmt::join(ids.sizes(), ", "));
  Sequences result = *this;
  result.ids_ = std::move(ids);
  return result;
}

}  // namespace lrnn::ops
