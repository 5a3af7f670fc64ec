// Packed sequences, the only batch layout of lrnn.
//
// A batch is x: [T, ...], the sequences one after the other without padding, and cu_seqlens: int32 [N + 1]; sequence i
// is rows cu_seqlens[i] .. cu_seqlens[i + 1] - 1. A sequence may be empty.
#pragma once

#include <cstdint>
#include <vector>

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

class Sequences {
 public:
  // Takes the boundaries: they start at 0 and never decrease.
  explicit Sequences(std::vector<int32_t> cu_seqlens);
  explicit Sequences(const torch::Tensor& cu_seqlens);  // any integer type and device

  static Sequences FromLengths(const std::vector<int64_t>& lengths);
  static Sequences Single(int64_t tokens) { return FromLengths({tokens}); }

  int64_t count() const { return static_cast<int64_t>(cu_seqlens_.size()) - 1; }  // N
  int64_t tokens() const { return cu_seqlens_.back(); }                           // T
  int64_t begin(int64_t i) const { return cu_seqlens_[i]; }
  int64_t end(int64_t i) const { return cu_seqlens_[i + 1]; }
  int64_t length(int64_t i) const { return end(i) - begin(i); }
  int64_t max_length() const;

  // The same sequences with their tokens themselves, int64 [T], for what looks them up; undefined where they are not
  // known.
  Sequences WithIds(torch::Tensor ids) const;
  const torch::Tensor& ids() const { return ids_; }

  const std::vector<int32_t>& cu_seqlens() const { return cu_seqlens_; }
  const int32_t* data() const { return cu_seqlens_.data(); }

 private:
  std::vector<int32_t> cu_seqlens_;
  torch::Tensor ids_;
};

}  // namespace lrnn::ops
