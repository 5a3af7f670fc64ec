#include "lrnn/base/rng.h"

#include <cmath>
#include <numbers>

#include "lrnn/base/error.h"

namespace lrnn {

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  auto& c = counter;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * c[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(product1),
         static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint64_t DeriveSeed(uint64_t seed, uint64_t purpose) { return Rng(seed, ~purpose).Next64(); }

uint32_t Rng::Next32() {
  if (left_ == 0) {
    buffer_ = Philox4x32({static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32),
                          static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                         {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
    ++block_;
    left_ = 4;
  }
  return buffer_[4 - left_--];
}

uint64_t Rng::Next64() {
  const uint64_t low = Next32();
  return low | uint64_t{Next32()} << 32;
}

uint32_t Rng::Below(uint32_t n) {
  LRNN_CHECK(n > 0, "[Rng::Below] expected n > 0, got 0");
  // Lemire's multiply-and-reject: the low word tells whether this draw would favour some values.
  const uint32_t threshold = (0u - n) % n;
  while (true) {
    const uint64_t product = uint64_t{Next32()} * n;
    if (static_cast<uint32_t>(product) >= threshold) return static_cast<uint32_t>(product >> 32);
  }
}

int64_t Rng::Between(int64_t low, int64_t high) {
  LRNN_CHECK(low <= high && high - low < int64_t{UINT32_MAX},
             "[Rng::Between] expected a range of 1 .. 2^32-1 values, got {} .. {}", low, high);
  return low + Below(static_cast<uint32_t>(high - low + 1));
}

double Rng::Uniform() { return static_cast<double>(Next64() >> 11) * 0x1.0p-53; }

double Rng::Normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

}  // namespace lrnn
