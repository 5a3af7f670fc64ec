// Breadth-first search over the bit patterns of float states.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lrnn {

// The bits of `width` numbers, which may be none.
template <typename Number>
std::string_view BitsOf(const Number* numbers, int64_t width) {
  return {reinterpret_cast<const char*>(numbers), width * sizeof(Number)};
}

// Different pairs (bits, label), numbered in the order they came.
template <typename Number>
class BitNodes {
 public:
  explicit BitNodes(int64_t width) : width_(width), slots_(1024, -1) {}

  int64_t size() const { return static_cast<int64_t>(label_.size()); }
  const Number* bits(int64_t node) const { return bits_.data() + node * width_; }
  int label(int64_t node) const { return label_[node]; }

  void Add(const Number* bits, int label) {
    if (2 * label_.size() >= slots_.size()) Grow();
    size_t slot = Hash(bits, label) & (slots_.size() - 1);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      const int64_t node = slots_[slot];
      if (label_[node] == label && BitsOf(this->bits(node), width_) == BitsOf(bits, width_)) return;
    }
    slots_[slot] = size();
    label_.push_back(label);
    bits_.insert(bits_.end(), bits, bits + width_);
  }

 private:
  size_t Hash(const Number* bits, int label) const {
    return std::hash<std::string_view>()(BitsOf(bits, width_)) ^ (static_cast<size_t>(label) * 0x9E3779B97F4A7C15u);
  }

  void Grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (int64_t node = 0; node < size(); ++node) {
      size_t slot = Hash(bits(node), label_[node]) & (slots_.size() - 1);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = node;
    }
  }

  int64_t width_;
  std::vector<Number> bits_;  // [node, width]
  std::vector<int> label_;    // [node]
  std::vector<int64_t> slots_;
};

struct BitSearch {
  int64_t nodes = 0, steps = 0;
  int64_t depth = 0;    // all words up to this length were tried
  bool closed = false;  // and all longer ones lead to nodes that were tried
  std::string wrong;    // what is wrong at the end of a shortest such word, "" for nothing
};

// From all zeros and `start`, every letter from every node. step(letter, label, S, wrong) updates S and gives the label
// after, or writes what is wrong.
template <typename Number, typename Step>
BitSearch SearchBits(int64_t width, int start, int letters, int64_t max_nodes, const Step& step) {
  BitSearch search;
  BitNodes<Number> nodes(width);
  std::vector<Number> S(width, Number(0.0f));
  nodes.Add(S.data(), start);
  int64_t node = 0, end_of_depth = 1;
  for (; node < nodes.size() && nodes.size() <= max_nodes && search.wrong.empty(); ++node) {
    if (node == end_of_depth) ++search.depth, end_of_depth = nodes.size();
    for (int letter = 0; letter < letters && search.wrong.empty(); ++letter) {
      std::copy_n(nodes.bits(node), width, S.data());
      const int label = step(letter, nodes.label(node), S.data(), search.wrong);
      ++search.steps;
      nodes.Add(S.data(), label);
    }
  }
  search.nodes = nodes.size();
  search.closed = search.wrong.empty() && node == nodes.size();
  return search;
}

}  // namespace lrnn
