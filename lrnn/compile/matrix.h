// Small dense matrices in double precision.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace lrnn {

class Matrix {
 public:
  Matrix() = default;
  Matrix(int rows, int cols) : rows_(rows), cols_(cols), entries_(static_cast<size_t>(rows) * cols, 0.0) {}
  Matrix(std::initializer_list<std::initializer_list<double>> rows);  // all of one length

  static Matrix Identity(int n);

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  double& operator()(int i, int j) { return entries_[static_cast<size_t>(i) * cols_ + j]; }
  double operator()(int i, int j) const { return entries_[static_cast<size_t>(i) * cols_ + j]; }
  std::span<double> row(int i) {
    return {entries_.data() + static_cast<size_t>(i) * cols_, static_cast<size_t>(cols_)};
  }
  std::span<const double> row(int i) const {
    return {entries_.data() + static_cast<size_t>(i) * cols_, static_cast<size_t>(cols_)};
  }

  Matrix Transposed() const;
  Matrix Columns(int first, int count) const;
  double MaxAbs() const;  // the largest absolute value of an entry

  // Sizes that fit are the caller's business.
  friend Matrix operator*(const Matrix& a, const Matrix& b);
  friend Matrix operator+(Matrix a, const Matrix& b);
  friend Matrix operator-(Matrix a, const Matrix& b);
  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  int rows_ = 0, cols_ = 0;
  std::vector<double> entries_;
};

double Dot(std::span<const double> a, std::span<const double> b);

}  // namespace lrnn
