#include "lrnn/compile/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

using Complex = std::complex<double>;

// Zeros below the first subdiagonal, by reflections from both sides.
Matrix Hessenberg(Matrix A) {
  const int n = A.rows();
  for (int column = 0; column + 2 < n; ++column) {
    std::vector<double> v(n, 0.0);
    double square = 0.0;
    for (int i = column + 1; i < n; ++i) v[i] = A(i, column), square += v[i] * v[i];
    if (square - v[column + 1] * v[column + 1] == 0.0) continue;
    v[column + 1] += v[column + 1] < 0 ? -std::sqrt(square) : std::sqrt(square);
    const double beta = 2.0 / Dot(v, v);
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int i = column + 1; i < n; ++i) sum += v[i] * A(i, j);
      for (int i = column + 1; i < n; ++i) A(i, j) -= beta * sum * v[i];
    }
    for (int i = 0; i < n; ++i) {
      const double sum = Dot(A.row(i), v);
      for (int j = column + 1; j < n; ++j) A(i, j) -= beta * sum * v[j];
    }
    for (int i = column + 2; i < n; ++i) A(i, column) = 0.0;
  }
  return A;
}

class ShiftedQr {
 public:
  explicit ShiftedQr(const Matrix& H) : n_(H.rows()), h_(static_cast<size_t>(n_) * n_) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) at(i, j) = H(i, j);
    }
    scale_ = H.MaxAbs();
  }

  std::vector<Complex> Run() {
    std::vector<Complex> found(n_);
    int steps = 0;
    for (int last = n_ - 1; last >= 0;) {
      int first = last;
      while (first > 0 && !Splits(first)) --first;
      if (first == last) {
        found[last] = at(last, last);
        --last;
        steps = 0;
        continue;
      }
      LRNN_CHECK(++steps <= 300, "[Eigenvalues] no convergence for a matrix of {} rows", n_);
      // An unusual shift now and then breaks cycles.
      Step(first, last, steps % 10 == 0 ? at(last, last) + std::abs(at(last, last - 1)) : Shift(last));
    }
    return found;
  }

 private:
  Complex& at(int i, int j) { return h_[static_cast<size_t>(i) * n_ + j]; }

  // Whether the subdiagonal entry left of (i, i) is nothing but rounding, which makes it 0.
  bool Splits(int i) {
    if (std::abs(at(i, i - 1)) > 2e-16 * scale_) return false;
    at(i, i - 1) = 0.0;
    return true;
  }

  // Of the two eigenvalues of the last 2 x 2 block the one closer to the corner (Wilkinson).
  Complex Shift(int last) {
    const Complex a = at(last - 1, last - 1), b = at(last - 1, last), c = at(last, last - 1), d = at(last, last);
    const Complex middle = 0.5 * (a + d), root = std::sqrt(0.25 * (a - d) * (a - d) + b * c);
    return std::abs(middle + root - d) < std::abs(middle - root - d) ? middle + root : middle - root;
  }

  // H - shift = Q R, H <- R Q + shift on the rows and columns first .. last.
  void Step(int first, int last, Complex shift) {
    for (int i = first; i <= last; ++i) at(i, i) -= shift;
    std::vector<std::pair<double, Complex>> turns;  // [[c, s], [-conj(s), c]]
    for (int i = first; i < last; ++i) {
      const Complex x = at(i, i), y = at(i + 1, i);
      const double norm = std::hypot(std::abs(x), std::abs(y));
      double c = 1.0;
      Complex s = 0.0;
      if (norm > 0.0) {
        const Complex phase = std::abs(x) > 0.0 ? x / std::abs(x) : 1.0;
        c = std::abs(x) / norm;
        s = phase * std::conj(y) / norm;
      }
      turns.emplace_back(c, s);
      for (int j = i; j <= last; ++j) {
        const Complex upper = at(i, j), lower = at(i + 1, j);
        at(i, j) = c * upper + s * lower;
        at(i + 1, j) = -std::conj(s) * upper + c * lower;
      }
    }
    for (int j = first; j < last; ++j) {
      const auto [c, s] = turns[j - first];
      for (int i = first; i <= std::min(j + 1, last); ++i) {
        const Complex left = at(i, j), right = at(i, j + 1);
        at(i, j) = c * left + std::conj(s) * right;
        at(i, j + 1) = -s * left + c * right;
      }
    }
    for (int i = first; i <= last; ++i) at(i, i) += shift;
  }

  int n_;
  std::vector<Complex> h_;  // [n, n]
  double scale_;
};

}  // namespace

std::vector<Complex> Eigenvalues(const Matrix& A) {
  std::vector<Complex> values = ShiftedQr(Hessenberg(A)).Run();
  for (Complex& value : values) {
    if (std::abs(value.imag()) <= 1e-14 * std::abs(value)) value.imag(0.0);
  }
  // What differs by rounding is equal.
  const auto key = [](Complex value) {
    return std::tuple(-std::round(1e10 * std::abs(value)), -std::round(1e10 * value.real()), -value.imag());
  };
  std::sort(values.begin(), values.end(), [&](Complex a, Complex b) { return key(a) < key(b); });
  return values;
}

std::string EigenvalueText(Complex value) {
  // Rounding is not worth a digit.
  const auto clean = [](double x) { return std::abs(x) < 1e-12 ? 0.0 : x; };
  if (clean(value.imag()) == 0.0) return fmt::format("{:.6g}", clean(value.real()));
  return fmt::format("{:.6g}{:+.6g}i", clean(value.real()), value.imag());
}

}  // namespace lrnn
