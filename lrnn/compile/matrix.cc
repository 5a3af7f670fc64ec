#include "lrnn/compile/matrix.h"

#include <algorithm>
#include <cmath>

namespace lrnn {

Matrix::Matrix(std::initializer_list<std::initializer_list<double>> rows)
    : rows_(static_cast<int>(rows.size())), cols_(static_cast<int>(rows.begin()->size())) {
  for (const auto& row : rows) entries_.insert(entries_.end(), row.begin(), row.end());
}

Matrix Matrix::Identity(int n) {
  Matrix identity(n, n);
  for (int i = 0; i < n; ++i) identity(i, i) = 1.0;
  return identity;
}

Matrix Matrix::Transposed() const {
  Matrix result(cols_, rows_);
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < cols_; ++j) result(j, i) = (*this)(i, j);
  }
  return result;
}

Matrix Matrix::Columns(int first, int count) const {
  Matrix result(rows_, count);
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < count; ++j) result(i, j) = (*this)(i, first + j);
  }
  return result;
}

double Matrix::MaxAbs() const {
  double largest = 0.0;
  for (const double entry : entries_) largest = std::max(largest, std::abs(entry));
  return largest;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows_, b.cols_);
  for (int i = 0; i < a.rows_; ++i) {
    for (int l = 0; l < a.cols_; ++l) {
      for (int j = 0; j < b.cols_; ++j) result(i, j) += a(i, l) * b(l, j);
    }
  }
  return result;
}

Matrix operator+(Matrix a, const Matrix& b) {
  for (size_t i = 0; i < a.entries_.size(); ++i) a.entries_[i] += b.entries_[i];
  return a;
}

Matrix operator-(Matrix a, const Matrix& b) {
  for (size_t i = 0; i < a.entries_.size(); ++i) a.entries_[i] -= b.entries_[i];
  return a;
}

double Dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace lrnn
