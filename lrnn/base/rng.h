// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
//
// A stream is named by (seed, stream) and has no other state than its position, so sample i of a data set is the same
// whatever came before it and whichever thread draws it:
//
//   Rng rng(seed, i);
//   int bit = rng.Below(2);
#pragma once

#include <array>
#include <cstdint>

namespace lrnn {

// Ten Philox rounds: a bijection of the counter for each key.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A seed for an independent family of streams: train, validation and test data, weights.
uint64_t DeriveSeed(uint64_t seed, uint64_t purpose);

class Rng {
 public:
  Rng(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  uint32_t Next32();                           // uniform over 32 bits
  uint64_t Next64();                           // uniform over 64 bits
  uint32_t Below(uint32_t n);                  // uniform over 0 .. n-1, without bias; n > 0
  int64_t Between(int64_t low, int64_t high);  // uniform over low .. high, both included
  double Uniform();                            // uniform over [0, 1), 53 bits
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  double Normal();  // standard normal (Box-Muller)

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t block_ = 0;  // how many Philox blocks were drawn
  std::array<uint32_t, 4> buffer_{};
  int left_ = 0;  // unread words of buffer_
};

}  // namespace lrnn
