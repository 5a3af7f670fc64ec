// The numbers a table reports of several seeds.
#pragma once

#include <vector>

namespace lrnn {

// The middle value; of an even number of values the mean of the two in the middle. At least one value.
double Median(std::vector<double> values);

// Median absolute deviation from the median, not rescaled: what the paper writes behind "+-".
double MedianAbsoluteDeviation(const std::vector<double>& values);

double Mean(const std::vector<double>& values);

// Population standard deviation (divided by the number of values): the band of the paper's Figure 1.
double StandardDeviation(const std::vector<double>& values);

}  // namespace lrnn
