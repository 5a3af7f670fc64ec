#include "lrnn/automata/groups.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "lrnn/automata/text_place.h"

namespace lrnn {
namespace {

constexpr int kMaxDegree = 4096;
constexpr int kMaxGenerators = 1000;

// The permutation that takes each point i to image(i).
Permutation Map(int degree, const std::function<int(int)>& image) {
  Permutation p(degree);
  for (int i = 0; i < degree; ++i) p[i] = image(i);
  return p;
}

// The cycle first -> first+1 -> ... -> last -> first.
Permutation Cycle(int degree, int first, int last) {
  return Map(degree, [=](int i) { return i < first || i > last ? i : i == last ? first : i + 1; });
}

bool IsPrime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n >= 2;
}

std::vector<Permutation> Symmetric(int n) {
  if (n == 1) return {IdentityPermutation(1)};
  return {Cycle(n, 0, 1), Cycle(n, 0, n - 1)};
}

// A cycle of odd length is even.
std::vector<Permutation> Alternating(int n) {
  if (n <= 2) return {IdentityPermutation(n)};
  return {Cycle(n, 0, 2), n % 2 == 1 ? Cycle(n, 0, n - 1) : Cycle(n, 1, n - 1)};
}

std::vector<Permutation> Dihedral(int n) {
  return {Cycle(n, 0, n - 1), Map(n, [n](int i) { return (n - i) % n; })};
}

// <x, y | x^h = 1, y^2 = x^(h/2), y x = x^-1 y> on itself from the right: the point i + h j is x^i y^j.
std::vector<Permutation> Dicyclic(int order) {
  const int h = order / 2;
  return {Map(order, [h](int p) { return p < h ? (p + 1) % h : h + (p - 1) % h; }),
          Map(order, [h](int p) { return p < h ? p + h : (p - h + h / 2) % h; })};
}

// z -> z + 1 and z -> -1/z on the projective line.
std::vector<Permutation> ProjectiveSpecialLinear(int p) {
  const auto negated_inverse = [p](int z) {
    int power = 1;  // z^(p-2)
    for (int i = 0; i < p - 2; ++i) power = power * z % p;
    return (p - power) % p;
  };
  return {Cycle(p + 1, 0, p - 1), Map(p + 1, [=](int z) { return z == 0 ? p : z == p ? 0 : negated_inverse(z); })};
}

// Generators on the points of a, then of b.
PermutationGroup DirectProduct(const PermutationGroup& a, const PermutationGroup& b) {
  PermutationGroup product{a.name + "x" + b.name, a.degree + b.degree, {}};
  for (Permutation p : a.generators) {
    for (int i = 0; i < b.degree; ++i) p.push_back(a.degree + i);
    product.generators.push_back(std::move(p));
  }
  for (const Permutation& q : b.generators) {
    Permutation p = IdentityPermutation(a.degree);
    for (const int i : q) p.push_back(a.degree + i);
    product.generators.push_back(std::move(p));
  }
  return product;
}

// Drops repeated generators, and the identity where there are others.
void Simplify(PermutationGroup& group) {
  std::set<Permutation> seen = {IdentityPermutation(group.degree)};
  std::vector<Permutation> kept;
  for (Permutation& p : group.generators) {
    if (seen.insert(p).second) kept.push_back(std::move(p));
  }
  if (kept.empty()) kept.push_back(IdentityPermutation(group.degree));
  group.generators = std::move(kept);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), source_{text, "group"} {}

  PermutationGroup Parse() {
    SkipBlanks();
    PermutationGroup group = Peek() == '(' ? ParseGenerators() : ParseProduct();
    Simplify(group);
    return group;
  }

 private:
  char Peek() const { return place_ < text_.size() ? text_[place_] : '\0'; }
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  void SkipBlanks() {
    while (place_ < text_.size() && IsBlank(text_[place_])) ++place_;
  }

  bool Accept(std::string_view word) {
    if (text_.substr(place_, word.size()) != word) return false;
    place_ += word.size();
    return true;
  }

  void Expect(std::string_view word) {
    if (!Accept(word)) source_.FailAt(place_, "expected '{}'", word);
  }

  int ParseNumber() {
    if (!IsDigit(Peek())) source_.FailAt(place_, "expected a number");
    const size_t begin = place_;
    int number = 0;
    for (; IsDigit(Peek()); ++place_) {
      number = number * 10 + (Peek() - '0');
      if (number > 2 * kMaxDegree) {
        source_.FailAt(begin, "this number is too large: groups act on at most {} points", kMaxDegree);
      }
    }
    return number;
  }

  PermutationGroup ParseProduct() {
    PermutationGroup group = ParseNamed();
    for (SkipBlanks(); place_ < text_.size(); SkipBlanks()) {
      if (!Accept("x") && !Accept("_x_") && !Accept("\u00D7")) {
        source_.FailAt(place_, "expected 'x' and another group, or the end");
      }
      SkipBlanks();
      const size_t begin = place_;
      const PermutationGroup factor = ParseNamed();
      if (group.degree + factor.degree > kMaxDegree) {
        source_.FailAt(begin, "the product acts on {} points, expected at most {}", group.degree + factor.degree,
                       kMaxDegree);
      }
      group = DirectProduct(group, factor);
    }
    return group;
  }

  // A family of groups by one number: letter, smallest number, what it must divide by, generators.
  struct Family {
    char letter;
    int smallest;
    int step;
    std::vector<Permutation> (*generators)(int);
  };

  PermutationGroup ParseNamed() {
    static constexpr Family kFamilies[] = {
        {'S', 1, 1, Symmetric},
        {'A', 1, 1, Alternating},
        {'Z', 1, 1, [](int n) { return std::vector<Permutation>{Cycle(n, 0, n - 1)}; }},
        {'C', 1, 1, [](int n) { return std::vector<Permutation>{Cycle(n, 0, n - 1)}; }},
        {'D', 3, 1, Dihedral},
        {'Q', 8, 4, Dicyclic},
    };
    const size_t begin = place_;
    if (Accept("PSL(2,")) {
      SkipBlanks();
      const size_t number = place_;
      const int p = ParseNumber();
      Expect(")");
      if (!IsPrime(p)) source_.FailAt(number, "expected a prime, got {}", p);
      return Named(begin, ProjectiveSpecialLinear(p));
    }
    for (const Family& family : kFamilies) {
      if (Peek() != family.letter || place_ + 1 >= text_.size() || !IsDigit(text_[place_ + 1])) continue;
      ++place_;
      const size_t number = place_;
      const int n = ParseNumber();
      if (n < family.smallest || n % family.step != 0) {
        source_.FailAt(number, "expected {}n with n at least {}{}, got {}", family.letter, family.smallest,
                       family.step == 1 ? "" : fmt::format(" and divisible by {}", family.step), n);
      }
      return Named(begin, family.generators(n));
    }
    source_.FailAt(
        begin, "expected S5, A5, Z60, D7, Q8, PSL(2,7), a product such as A4xZ5, or generators (0 1 2)(3 4), (0 1)");
  }

  PermutationGroup Named(size_t begin, std::vector<Permutation> generators) const {
    const int degree = static_cast<int>(generators[0].size());
    if (degree > kMaxDegree) {
      source_.FailAt(begin, "the group acts on {} points, expected at most {}", degree, kMaxDegree);
    }
    return {std::string(text_.substr(begin, place_ - begin)), degree, std::move(generators)};
  }

  // (0 1 2)(3 4), (0 1)
  PermutationGroup ParseGenerators() {
    std::vector<std::vector<std::pair<int, int>>> moves;  // of each generator: (point, image)
    int degree = 1;
    do {
      SkipBlanks();
      if (moves.size() == kMaxGenerators) source_.FailAt(place_, "expected at most {} generators", kMaxGenerators);
      moves.push_back(ParseCycles());
      for (const auto& [point, image] : moves.back()) degree = std::max({degree, point + 1, image + 1});
    } while (Accept(","));
    if (place_ < text_.size()) {
      source_.FailAt(place_, "expected a cycle such as (0 1), ',' and another generator, or the end");
    }

    PermutationGroup group{"", degree, {}};
    for (const auto& pairs : moves) {
      Permutation p = IdentityPermutation(degree);
      for (const auto& [point, image] : pairs) p[point] = image;
      group.name += (group.name.empty() ? "<" : ",") + CycleNotation(p);
      group.generators.push_back(std::move(p));
    }
    group.name += ">";
    return group;
  }

  std::vector<std::pair<int, int>> ParseCycles() {
    std::vector<std::pair<int, int>> moves;
    std::set<int> seen;
    Expect("(");
    do {
      std::vector<int> cycle;
      for (SkipBlanks(); !Accept(")"); SkipBlanks()) {
        if (place_ >= text_.size()) source_.FailAt(place_, "expected ')' before the end");
        const size_t begin = place_;
        cycle.push_back(ParseNumber());
        if (cycle.back() >= kMaxDegree) {
          source_.FailAt(begin, "expected points below {}, got {}", kMaxDegree, cycle.back());
        }
        if (!seen.insert(cycle.back()).second) source_.FailAt(begin, "point {} occurs twice", cycle.back());
        SkipBlanks();
        Accept(",");
      }
      for (size_t i = 0; i < cycle.size(); ++i) moves.emplace_back(cycle[i], cycle[(i + 1) % cycle.size()]);
      SkipBlanks();
    } while (Accept("("));
    return moves;
  }

  std::string_view text_;
  SourceText source_;
  size_t place_ = 0;
};

}  // namespace

PermutationGroup ParseGroup(std::string_view text) { return Parser(text).Parse(); }

}  // namespace lrnn
