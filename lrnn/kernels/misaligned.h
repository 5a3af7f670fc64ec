// For tests: arrays at addresses that are not multiples of the vector size, as slices of tensors have them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace lrnn::kernels {

// A copy of values in T, or `size` of NaN that a kernel is to overwrite. An empty one is null, as a missing argument
// is.
template <typename T>
class Misaligned {
 public:
  explicit Misaligned(const std::vector<double>& values) : storage_(values.size() + 1), empty_(values.empty()) {
    std::copy(values.begin(), values.end(), storage_.begin() + 1);
  }
  explicit Misaligned(size_t size) : storage_(size + 1, std::numeric_limits<T>::quiet_NaN()), empty_(size == 0) {}
  T* data() { return empty_ ? nullptr : storage_.data() + 1; }
  size_t size() const { return storage_.size() - 1; }

 private:
  std::vector<T> storage_;
  bool empty_;
};

// Differences are relative to the largest value expected (at least 1).
template <typename T>
void ExpectNear(Misaligned<T>& got, const std::vector<double>& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 1;
  for (double x : expected) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(got.data()[i], expected[i], tolerance * largest) << what << "[" << i << "]";
  }
}

}  // namespace lrnn::kernels
