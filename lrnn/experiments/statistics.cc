#include "lrnn/experiments/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lrnn/base/error.h"

namespace lrnn {

double Median(std::vector<double> values) {
  LRNN_CHECK(!values.empty(), "[Median] expected at least one value, got none");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double MedianAbsoluteDeviation(const std::vector<double>& values) {
  const double median = Median(values);
  std::vector<double> deviations;
  for (double value : values) deviations.push_back(std::abs(value - median));
  return Median(deviations);
}

double Mean(const std::vector<double>& values) {
  LRNN_CHECK(!values.empty(), "[Mean] expected at least one value, got none");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StandardDeviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double sum = 0;
  for (double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace lrnn
