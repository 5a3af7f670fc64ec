// A set of states of an automaton.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lrnn {

class StateSet {
 public:
  static constexpr int kMaxStates = 256;
  static constexpr int kWords = kMaxStates / 64;

  static StateSet All(int states) {
    StateSet set;
    for (int q = 0; q < states; ++q) set.Insert(q);
    return set;
  }
  static StateSet Single(int q) {
    StateSet set;
    set.Insert(q);
    return set;
  }

  void Insert(int q) { words_[q / 64] |= uint64_t{1} << (q % 64); }
  void Erase(int q) { words_[q / 64] &= ~(uint64_t{1} << (q % 64)); }
  bool Contains(int q) const { return (words_[q / 64] >> (q % 64)) & 1; }

  int Size() const {
    int size = 0;
    for (const uint64_t word : words_) size += std::popcount(word);
    return size;
  }
  bool IsSubsetOf(const StateSet& other) const {
    uint64_t outside = 0;
    for (int i = 0; i < kWords; ++i) outside |= words_[i] & ~other.words_[i];
    return outside == 0;
  }
  int Smallest() const {  // -1 when empty
    for (int i = 0; i < kWords; ++i) {
      if (words_[i] != 0) return 64 * i + std::countr_zero(words_[i]);
    }
    return -1;
  }
  template <typename Visit>
  void ForEach(const Visit& visit) const {  // in increasing order
    for (int i = 0; i < kWords; ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) visit(64 * i + std::countr_zero(word));
    }
  }

  // { map[q] : q in the set }
  StateSet Image(std::span<const int> map) const {
    StateSet image;
    ForEach([&](int q) { image.Insert(map[q]); });
    return image;
  }
  StateSet Without(const StateSet& other) const {
    StateSet rest;
    for (int i = 0; i < kWords; ++i) rest.words_[i] = words_[i] & ~other.words_[i];
    return rest;
  }

  friend bool operator==(const StateSet&, const StateSet&) = default;

  struct Hash {
    size_t operator()(const StateSet& set) const {
      uint64_t hash = 0;
      for (const uint64_t word : set.words_) hash = (hash ^ word) * 0x9E3779B97F4A7C15u, hash ^= hash >> 32;
      return hash;
    }
  };

 private:
  std::array<uint64_t, kWords> words_{};
};

}  // namespace lrnn
