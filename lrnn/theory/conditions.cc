#include "lrnn/theory/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>

#include "lrnn/compile/eigenvalues.h"
#include "lrnn/compile/svd.h"

namespace lrnn {
namespace {

using Complex = std::complex<double>;

bool IsTriangular(const TransitionLayer& layer) {
  bool upper = true, lower = true;
  for (const Transition& transition : layer.transitions) {
    for (int i = 0; i < transition.A.rows(); ++i) {
      for (int j = 0; j < i; ++j) {
        upper &= transition.A(i, j) == 0.0;
        lower &= transition.A(j, i) == 0.0;
      }
    }
  }
  return upper || lower;
}

// |A x| <= |x|, and |A x| = |x| only where A x = x.
bool KeepsOnlyWhatItFixes(const Matrix& A, double tolerance) {
  const Svd svd = ComputeSvd(A);
  if (svd.sigma[0] > 1.0 + tolerance) return false;
  for (int i = 0; i < A.rows() && svd.sigma[i] >= 1.0 - tolerance; ++i) {
    const Matrix v = svd.V.Columns(i, 1);
    if ((A * v - v).MaxAbs() > 100 * tolerance) return false;
  }
  return true;
}

bool AllKeepOnlyWhatTheyFix(const Transitions& transitions, double tolerance) {
  for (const TransitionLayer& layer : transitions.layers) {
    for (const Transition& transition : layer.transitions) {
      if (!KeepsOnlyWhatItFixes(transition.A, tolerance)) return false;
    }
  }
  return true;
}

constexpr std::string_view kFixedReason =
    "every matrix keeps the length of a vector only where it fixes it, and so do all products";

std::string Sizes(const Transitions& transitions) {
  return fmt::format("{} matrices of {} layer{}{}", transitions.matrices(), transitions.depth(),
                     transitions.depth() == 1 ? "" : "s",
                     transitions.is_complete ? "" : ", on the inputs that were seen");
}

// The products of 2^(depth-1) matrices of a layer, squaring sets of products.
class Products {
 public:
  struct Product {
    Matrix A;
    std::vector<int> word;  // of transitions, the first acts first; cut when it is long
  };

  Products(const TransitionLayer& layer, int64_t budget) : layer_(layer), budget_(budget) {
    std::vector<Product> single;
    for (size_t x = 0; x < layer.transitions.size(); ++x)
      single.push_back({layer.transitions[x].A, {static_cast<int>(x)}});
    Keep(std::move(single));
    for (int level = 1; level < layer.depth; ++level) {
      std::vector<Product> longer;
      for (const Product& first : products_) {
        for (const Product& second : products_) {
          if (static_cast<int64_t>(longer.size()) >= 4 * budget_) {
            is_complete_ = false;
            break;
          }
          Product& product = longer.emplace_back(Product{second.A * first.A, first.word});
          if (product.word.size() < kNamed) {
            product.word.insert(product.word.end(), second.word.begin(), second.word.end());
          }
        }
      }
      Keep(std::move(longer));
    }
  }

  const std::vector<Product>& all() const { return products_; }
  bool is_complete() const { return is_complete_; }

  std::string WordOf(const Product& product) const {
    std::string names;
    for (size_t i = 0; i < std::min(product.word.size(), kNamed); ++i) {
      names += (i > 0 ? ", " : "") + layer_.transitions[product.word[i]].input;
    }
    const int64_t length = int64_t{1} << std::min(layer_.depth - 1, 40);
    return length > static_cast<int64_t>(kNamed) ? fmt::format("{}, ... ({} of them)", names, length) : names;
  }

 private:
  static constexpr size_t kNamed = 8;

  // Different ones only, and no more than the budget.
  void Keep(std::vector<Product> products) {
    products_.clear();
    std::map<std::vector<int64_t>, int> seen;
    for (Product& product : products) {
      std::vector<int64_t> key;
      for (int i = 0; i < product.A.rows(); ++i) {
        for (const double entry : product.A.row(i)) key.push_back(std::llround(std::clamp(entry, -1e6, 1e6) * 1e9));
      }
      if (!seen.emplace(std::move(key), 0).second) continue;
      if (static_cast<int64_t>(products_.size()) >= budget_) {
        is_complete_ = false;
        return;
      }
      products_.push_back(std::move(product));
    }
  }

  const TransitionLayer& layer_;
  int64_t budget_;
  std::vector<Product> products_;
  bool is_complete_ = true;
};

// How many eigenvalue problems of n rows take about a second.
int64_t Budget(int n) { return std::clamp<int64_t>(100'000'000 / (int64_t{n} * n * n), 20, 2000); }

}  // namespace

std::string_view Name(Answer answer) {
  return answer == Answer::kPossible ? "possible" : answer == Answer::kImpossible ? "impossible" : "open";
}

Verdict CheckParity(const Transitions& transitions, double tolerance) {
  Verdict verdict;
  verdict.checked = Sizes(transitions);
  Complex closest = 0.0;
  std::string where;
  for (const TransitionLayer& layer : transitions.layers) {
    for (const Transition& transition : layer.transitions) {
      for (const Complex value : Eigenvalues(transition.A)) {
        const bool is_positive = std::abs(value.imag()) <= tolerance && value.real() > 0.0;
        if (is_positive || (!where.empty() && std::abs(value) <= std::abs(closest) + 1e-12)) continue;
        closest = value;
        where = fmt::format("{}, input {}", layer.name, transition.input);
      }
    }
  }
  if (!where.empty() && std::abs(closest) >= 1.0 - tolerance) {
    verdict.answer = Answer::kPossible;
    verdict.reason =
        fmt::format("{} has the eigenvalue {}, of modulus 1 and not positive", where, EigenvalueText(closest));
    return verdict;
  }
  verdict.answer = transitions.is_complete ? Answer::kImpossible : Answer::kOpen;
  verdict.reason = where.empty() ? "all eigenvalues are real and positive"
                                 : fmt::format("no eigenvalue of modulus 1 but 1; of the others the largest is {}: {}",
                                               EigenvalueText(closest), where);
  return verdict;
}

Verdict CheckModularCounting(const Transitions& transitions, double tolerance) {
  Verdict verdict;
  verdict.checked = Sizes(transitions);
  const Answer no = transitions.is_complete ? Answer::kImpossible : Answer::kOpen;
  if (std::all_of(transitions.layers.begin(), transitions.layers.end(), IsTriangular)) {
    verdict.answer = no;
    verdict.reason = "all matrices of a layer are triangular: the eigenvalues of all their products are real";
    return verdict;
  }
  if (AllKeepOnlyWhatTheyFix(transitions, tolerance)) {
    verdict.answer = no;
    verdict.reason = kFixedReason;
    return verdict;
  }
  int64_t checked = 0;
  std::string cut;
  for (const TransitionLayer& layer : transitions.layers) {
    const Products products(layer, Budget(layer.transitions[0].A.rows()));
    for (const Products::Product& product : products.all()) {
      ++checked;
      for (const Complex value : Eigenvalues(product.A)) {
        if (std::abs(value) < 1.0 - tolerance || std::abs(value.imag()) <= tolerance) continue;
        verdict.answer = Answer::kPossible;
        verdict.reason = fmt::format("{}, inputs {}: the product has the eigenvalue {}, of modulus 1 and not real",
                                     layer.name, products.WordOf(product), EigenvalueText(value));
        return verdict;
      }
    }
    if (!products.is_complete() && cut.empty()) cut = layer.name;
  }
  verdict.checked += fmt::format(", {} different products", checked);
  verdict.answer = cut.empty() ? no : Answer::kOpen;
  verdict.reason = cut.empty()
                       ? "no product of 2^(i-1) matrices of layer i has an eigenvalue of modulus 1 that is not real"
                       : fmt::format("found no such product; {} has more than were looked at", cut);
  return verdict;
}

}  // namespace lrnn
