#include "lrnn/compile/certify_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include "lrnn/automata/permutation.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/dyadic.h"
#include "lrnn/runtime/householder_factor.h"

namespace lrnn {
namespace {

struct Factor {
  std::vector<KeyEntry<float>> key;
  float beta, v;
};

// What a coordinate of H can be: multiples of `unit` from `low` to `high`.
struct Range {
  Dyadic low, high, unit;
};

Range Integers(double low, double high) { return {Dyadic(low), Dyadic(high), Dyadic(1.0)}; }

// constant + sum over coordinates of coefficient * H_i
struct Form {
  Dyadic constant;
  std::map<int, Dyadic> coefficients;  // none is 0

  static Form Constant(double value) { return {Dyadic(value), {}}; }
  static Form Coordinate(int i, double coefficient = 1.0) { return {Dyadic(), {{i, Dyadic(coefficient)}}}; }

  friend bool operator==(const Form&, const Form&) = default;
};

Form AddScaled(Form a, const Dyadic& scale, const Form& b) {
  a.constant = a.constant + scale * b.constant;
  for (const auto& [i, coefficient] : b.coefficients) {
    Dyadic& sum = a.coefficients[i];
    sum = sum + scale * coefficient;
    if (sum.IsZero()) a.coefficients.erase(i);
  }
  return a;
}

// The forms of one layer, and how many bits the numbers on the way need.
class LayerCheck {
 public:
  LayerCheck(std::vector<float> initial, std::vector<Range> ranges, int copies, bool negative_eigenvalues, int& bits)
      : initial_(std::move(initial)),
        ranges_(std::move(ranges)),
        copies_(copies),
        largest_square_(negative_eigenvalues ? 2.0 : 1.0),
        bits_(bits) {}

  // Throws an Error when the factors do not turn H into `target`, one form per coordinate; the coordinates that
  // `target` does not name stay.
  void Check(const std::vector<Factor>& factors, const std::map<int, Form>& target) {
    const int rows = static_cast<int>(initial_.size()) * copies_;
    S_.clear();
    for (const Factor& factor : factors) {
      for (const KeyEntry<float>& entry : factor.key) Start(entry.row);
    }
    for (const auto& [i, _] : target) {
      for (int copy = 0; copy < copies_; ++copy) Start(i * copies_ + copy);
    }
    for (const Factor& factor : factors) Apply(factor);
    for (const auto& [row, form] : S_) {
      LRNN_CHECK(row >= 0 && row < rows, "row {} of {}", row, rows);
      const int i = row / copies_;
      const auto wanted = target.find(i);
      const Form H = AddScaled(form, Dyadic(1.0), Form::Constant(initial_[i]));
      LRNN_CHECK(H == (wanted == target.end() ? Form::Coordinate(i) : wanted->second),
                 "coordinate {} does not become what the action says", i);
    }
  }

 private:
  void Start(int row) {
    if (S_.contains(row)) return;
    const int i = row / copies_;
    S_[row] = AddScaled(Form::Coordinate(i), Dyadic(-1.0), Form::Constant(initial_[i]));
    Record(S_[row]);
  }

  void Apply(const Factor& factor) {
    Dyadic square;
    for (const KeyEntry<float>& entry : factor.key) square = square + Dyadic(entry.k) * Dyadic(entry.k);
    const Dyadic beta(factor.beta);
    square = beta * square;
    LRNN_CHECK(!(square < Dyadic(0.0)) && !(largest_square_ < square),
               "beta |k|^2 = {} gives the eigenvalue {}, outside of the range", square.ToDouble(),
               1.0 - square.ToDouble());
    std::vector<Form> terms = {Form::Constant(factor.v)};
    for (const KeyEntry<float>& entry : factor.key) {
      terms.push_back(AddScaled(Form{}, -Dyadic(entry.k), S_[entry.row]));
    }
    RecordPartialSums(terms);
    Form error;
    for (const Form& term : terms) error = AddScaled(error, Dyadic(1.0), term);
    Record(AddScaled(Form{}, beta, error));
    for (const KeyEntry<float>& entry : factor.key) {
      const Dyadic scale = beta * Dyadic(entry.k);
      Record({scale, {}});
      Record(AddScaled(Form{}, Dyadic(entry.k), error));
      Record(AddScaled(Form{}, scale, error));
      S_[entry.row] = AddScaled(S_[entry.row], scale, error);
      Record(S_[entry.row]);
    }
  }

  // Every order of summation goes through sums of subsets.
  void RecordPartialSums(const std::vector<Form>& terms) {
    constexpr size_t kExhaustive = 6;
    if (terms.size() > kExhaustive) {
      Dyadic bound;
      int quantum = 0;
      for (const Form& term : terms) {
        bound = bound + Bound(term);
        quantum = std::min(quantum, Quantum(term));
      }
      Record(bound, quantum);
      return;
    }
    for (uint32_t subset = 1; subset < (1u << terms.size()); ++subset) {
      Form sum;
      for (size_t i = 0; i < terms.size(); ++i) {
        if (subset >> i & 1) sum = AddScaled(sum, Dyadic(1.0), terms[i]);
      }
      Record(sum);
    }
  }

  // The largest absolute value over all coordinates in their ranges.
  Dyadic Bound(const Form& form) const {
    Dyadic low = form.constant, high = form.constant;
    for (const auto& [i, coefficient] : form.coefficients) {
      const bool negative = coefficient < Dyadic();
      low = low + coefficient * (negative ? ranges_[i].high : ranges_[i].low);
      high = high + coefficient * (negative ? ranges_[i].low : ranges_[i].high);
    }
    return std::max(low.Abs(), high.Abs());
  }

  // 2^quantum divides every value of the form.
  int Quantum(const Form& form) const {
    int quantum = form.constant.quantum();
    for (const auto& [i, coefficient] : form.coefficients) {
      quantum = std::min(quantum, (coefficient * ranges_[i].unit).quantum());
    }
    return quantum;
  }

  void Record(const Form& form) { Record(Bound(form), Quantum(form)); }

  void Record(const Dyadic& bound, int quantum) {
    if (bound.IsZero()) return;
    const double steps = bound.ToDouble() / Dyadic(std::ldexp(1.0, quantum)).ToDouble();
    int bits = 0;
    while (std::ldexp(1.0, bits) < steps) ++bits;
    bits_ = std::max(bits_, bits);
  }

  std::vector<float> initial_;
  std::vector<Range> ranges_;
  int copies_;
  Dyadic largest_square_;
  int& bits_;
  std::map<int, Form> S_;  // [row]
};

class ArithmeticCheck {
 public:
  explicit ArithmeticCheck(const AutomatonNetwork& network) : net_(network) {}

  // Throws an Error that says what is wrong.
  void Run() {
    if (net_.is_jit()) return CheckJit();
    for (size_t i = 0; i < net_.levels.size(); ++i) {
      const AutomatonLevel& level = net_.levels[i];
      for (size_t layer = 0; layer < level.layers.size(); ++layer) CheckLayer(i, static_cast<int>(layer));
      if (level.kind == LevelKind::kPoints) CheckCodes(i);
    }
  }

  int64_t symbols() const { return symbols_; }
  int64_t micro_steps() const { return micro_steps_; }
  int bits() const { return bits_; }

 private:
  std::vector<Range> Ranges(const AutomatonLevel& level, int layer) const {
    const size_t coordinates = level.InitialContent(layer).size();
    const int n = level.tables.labels;
    const bool is_slot = level.kind == LevelKind::kSlot || layer == 1;
    switch (level.kind) {
      case LevelKind::kSign:
        return std::vector<Range>(coordinates, Integers(-1, 1));
      case LevelKind::kOneHot:
      case LevelKind::kJoint:
        return std::vector<Range>(coordinates, Integers(0, 1));
      case LevelKind::kPoints:
        return std::vector<Range>(coordinates, Integers(0, static_cast<double>(coordinates) - 1));
      default: {
        std::vector<Range> ranges(coordinates, Integers(0, n - 1));
        if (is_slot && level.delay && !net_.negative_eigenvalues) {
          ranges[1] = {Dyadic(0.0), Dyadic((n - 1) / 2.0), Dyadic(0.5)};
        }
        return ranges;
      }
    }
  }

  static void Move(std::span<const int> permutation, std::map<int, Form>& target) {
    for (size_t i = 0; i < permutation.size(); ++i) target[permutation[i]] = Form::Coordinate(static_cast<int>(i));
  }

  void WriteSlot(bool delay, double value, std::map<int, Form>& target) const {
    target[0] = Form::Constant(value);
    if (delay) target[1] = Form::Coordinate(0, net_.negative_eigenvalues ? 1.0 : 0.5);
  }

  // What a symbol is to do.
  std::map<int, Form> Target(const AutomatonLevel& level, int layer, int symbol) const {
    std::map<int, Form> target;
    const int n = level.tables.labels;
    if (layer == 1) {
      if (symbol > 0) WriteSlot(level.delay, symbol - 1, target);
      return target;
    }
    const std::vector<int>& action = level.tables.actions[symbol];
    const bool is_reset = level.tables.IsReset(symbol);
    switch (level.kind) {
      case LevelKind::kSlot:
        if (is_reset) WriteSlot(level.delay, action[0], target);
        break;
      case LevelKind::kSign:
        if (is_reset) {
          WriteSlot(level.delay, action[0] == 0 ? 1 : -1, target);
        } else if (action[0] == 1) {
          target[0] = Form::Coordinate(0, -1.0);
        }
        break;
      case LevelKind::kPermutedSlot:
        if (!is_reset) Move(action, target);
        break;
      case LevelKind::kOneHot:
      case LevelKind::kJoint:
        if (!is_reset) {
          Move(action, target);
          break;
        }
        for (int x = 0; x < n; ++x) {
          target[x] = Form::Constant(x == action[0]);
          if (level.delay) target[n + x] = Form::Coordinate(x);
        }
        break;
      case LevelKind::kPoints:
        Move(PointPermutation(level, symbol), target);
        break;
      case LevelKind::kFixed:
      case LevelKind::kRotation:
        break;
    }
    return target;
  }

  // Content moves as it does from the code of label 0, the identity.
  static Permutation PointPermutation(const AutomatonLevel& level, int action) {
    return Inverse(level.codes[level.tables.actions[action][0]]);
  }

  void CheckLayer(size_t i, int layer) {
    const AutomatonLevel& level = net_.levels[i];
    const DeltaProductTable& table = level.layers[layer];
    LRNN_CHECK(level.kind != LevelKind::kRotation, "level {}: the weights of a rotation are rounded", i);
    LayerCheck check(level.InitialContent(layer), Ranges(level, layer), table.copies, net_.negative_eigenvalues, bits_);
    for (int symbol = 0; symbol < table.symbols; ++symbol) {
      std::vector<Factor> factors;
      for (int m = 0; m < table.n_h; ++m) {
        const size_t step = static_cast<size_t>(symbol) * table.n_h + m;
        Factor factor{{}, table.beta[step], table.v[step]};
        for (int row = 0; row < table.K; ++row) {
          const float k = table.k[step * table.K + row];
          if (k != 0.0f) factor.key.push_back({row, k});
        }
        factors.push_back(std::move(factor));
      }
      CheckSymbol(check, factors, Target(level, layer, symbol),
                  [&] { return fmt::format("level {}, layer {}, symbol {}", i, layer, symbol); });
    }
  }

  void CheckSymbol(LayerCheck& check, const std::vector<Factor>& factors, const std::map<int, Form>& target,
                   const std::function<std::string()>& place) {
    ++symbols_;
    micro_steps_ += static_cast<int64_t>(factors.size());
    try {
      check.Check(factors, target);
    } catch (const Error& error) {
      Fail("{}: {}", place(), error.what());
    }
  }

  void CheckCodes(size_t i) const {
    const AutomatonLevel& level = net_.levels[i];
    for (size_t a = 0; a < level.tables.actions.size(); ++a) {
      const Permutation permutation = PointPermutation(level, static_cast<int>(a));
      for (int x = 0; x < level.tables.labels; ++x) {
        const std::vector<int>&before = level.codes[x], &after = level.codes[level.tables.actions[a][x]];
        for (size_t point = 0; point < permutation.size(); ++point) {
          LRNN_CHECK(after[permutation[point]] == before[point], "level {}, action {}: the code of label {} is wrong",
                     i, a, x);
        }
      }
    }
  }

  // The largest level of a jit cascade: smaller ones use the same factors on smaller numbers.
  void CheckJit() {
    const int n = net_.dfa.num_states;
    AutomatonLevel level;
    level.kind = LevelKind::kPermutedSlot;
    level.tables.labels = n;
    level.delay = true;
    const int copies = net_.keys == KeyStyle::kDup ? 2 : 1;
    const auto check = [&](LayerCheck& layer, const FactorWriter::Factors& written, std::map<int, Form> target) {
      std::vector<Factor> factors;
      for (const HouseholderFactor& factor : written) {
        factors.push_back({{factor.key.begin(), factor.key.begin() + factor.width}, factor.beta, factor.v});
      }
      CheckSymbol(layer, factors, target, [] { return std::string("jit"); });
    };
    if (n >= 3) {
      const FactorWriter writer(net_.keys, copies, level.InitialContent(0));
      LayerCheck content(level.InitialContent(0), Ranges(level, 0), copies, net_.negative_eigenvalues, bits_);
      for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
          FactorWriter::Factors factors;
          writer.Swap(i, j, factors);
          check(content, factors, {{i, Form::Coordinate(j)}, {j, Form::Coordinate(i)}});
        }
      }
      const FactorWriter slot_writer(net_.keys, copies, level.InitialContent(1));
      LayerCheck slot(level.InitialContent(1), Ranges(level, 1), copies, net_.negative_eigenvalues, bits_);
      for (int y = 0; y < n; ++y) {
        FactorWriter::Factors factors;
        slot_writer.Swap(0, 1, factors);
        slot_writer.Write(0, static_cast<float>(y), factors);
        check(slot, factors, {{0, Form::Constant(y)}, {1, Form::Coordinate(0)}});
      }
    }
    level.kind = LevelKind::kSign;
    level.delay = false;
    const FactorWriter sign_writer(net_.keys, 1, level.InitialContent(0));
    LayerCheck sign(level.InitialContent(0), Ranges(level, 0), 1, net_.negative_eigenvalues, bits_);
    FactorWriter::Factors flip, up, down;
    sign_writer.Flip(0, flip);
    sign_writer.Write(0, 1.0f, up);
    sign_writer.Write(0, -1.0f, down);
    check(sign, flip, {{0, Form::Coordinate(0, -1.0)}});
    check(sign, up, {{0, Form::Constant(1)}});
    check(sign, down, {{0, Form::Constant(-1)}});
  }

  const AutomatonNetwork& net_;
  int64_t symbols_ = 0, micro_steps_ = 0;
  int bits_ = 0;
};

}  // namespace

Certificate CertifyArithmetic(const AutomatonNetwork& network) {
  Certificate certificate;
  certificate.name = "C2 arithmetic";
  certificate.needs_local = true;
  ArithmeticCheck check(network);
  try {
    check.Run();
    for (const auto& [format, bits] : {std::pair("bf16", 8), {"fp16", 11}, {"fp32", 24}, {"fp64", 53}}) {
      if (check.bits() <= bits) certificate.formats.push_back(format);
    }
    certificate.holds = !certificate.formats.empty();
    certificate.verdict = check.micro_steps() == 0 ? "no rounding: there is nothing to compute"
                                                   : fmt::format("no rounding: {} significant bits hold every number",
                                                                 std::max(check.bits(), 1));
  } catch (const Error& error) {
    certificate.verdict = error.what();
  }
  certificate.nodes = check.micro_steps();
  certificate.checked = fmt::format("{} micro-steps of {} symbols", check.micro_steps(), check.symbols());
  return certificate;
}

}  // namespace lrnn
