#include "lrnn/theory/transitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lrnn/automata/text_place.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/matrix_text.h"

namespace lrnn {
namespace {

// The micro-steps of a symbol, one behind the other, on H = S.
Transition SymbolTransition(const DeltaProductTable& layer, int symbol) {
  Transition transition{fmt::format("symbol {}", symbol), Matrix::Identity(layer.K), std::vector<double>(layer.K, 0.0)};
  for (int m = 0; m < layer.n_h; ++m) {
    const size_t step = static_cast<size_t>(symbol) * layer.n_h + m;
    const double beta = layer.beta[step];
    const float* k = layer.k.data() + step * layer.K;
    const auto update = [&](double write, auto&& column) {
      double error = write;
      for (int i = 0; i < layer.K; ++i) error -= k[i] * column(i);
      for (int i = 0; i < layer.K; ++i) column(i) += beta * k[i] * error;
    };
    for (int j = 0; j < layer.K; ++j) update(0.0, [&](int i) -> double& { return transition.A(i, j); });
    update(layer.v[step], [&](int i) -> double& { return transition.B[i]; });
  }
  return transition;
}

class TransitionReader {
 public:
  TransitionReader(std::string_view text, std::string_view source) : source_{text, source} {}

  Transitions Read() {
    const std::string_view text = source_.text;
    size_t line = 0;
    for (; line < text.size(); ++line_number_) {
      const size_t end = std::min(text.find('\n', line), text.size());
      const std::string_view content = text.substr(line, end - line);
      const size_t first = content.find_first_not_of(" \t\r");
      if (first != std::string_view::npos && std::isalpha(static_cast<unsigned char>(content[first]))) {
        const size_t word_end = std::min(content.find_first_of(" \t\r", first), content.size());
        FinishMatrix(line);
        Keyword(line + first, content.substr(first, word_end - first), content.substr(0, content.find('#')), word_end);
      }
      line = end + 1;
    }
    FinishMatrix(text.size());
    LRNN_CHECK(!result_.layers.empty(), "{}: expected an input with its matrix, got none", source_.source);
    for (const TransitionLayer& layer : result_.layers) Check(layer);
    return std::move(result_);
  }

 private:
  void Keyword(size_t place, std::string_view word, std::string_view content, size_t word_end) {
    const std::string_view rest = word_end < content.size() ? content.substr(word_end) : "";
    if (word == "layer") {
      AddLayer();
    } else if (word == "start") {
      if (result_.layers.empty()) AddLayer();
      result_.layers.back().start = Numbers(rest, word_end);
    } else if (word == "input") {
      if (result_.layers.empty()) AddLayer();
      const size_t first = rest.find_first_not_of(" \t\r"), last = rest.find_last_not_of(" \t\r");
      if (first == std::string_view::npos) source_.FailAt(place, "expected the input's name");
      result_.layers.back().transitions.push_back({std::string(rest.substr(first, last - first + 1)), {}, {}});
      matrix_line_ = line_number_ + 1;
      matrix_begin_ = std::min(source_.text.find('\n', place), source_.text.size());
    } else if (word == "offset") {
      if (result_.layers.empty() || result_.layers.back().transitions.empty()) {
        source_.FailAt(place, "an offset belongs to an input");
      }
      result_.layers.back().transitions.back().B = Numbers(rest, word_end);
    } else {
      source_.FailAt(place, "expected layer, start, input, offset or a number, got '{}'", word);
    }
  }

  void AddLayer() {
    const int depth = static_cast<int>(result_.layers.size()) + 1;
    result_.layers.push_back({fmt::format("layer {}", depth), depth, {}, {}});
  }

  // The rows since the input's line, which end before `end`.
  void FinishMatrix(size_t end) {
    if (matrix_begin_ == std::string_view::npos) return;
    // Empty lines in front keep the numbers of the lines.
    const std::string rows =
        std::string(matrix_line_ - 1, '\n') + std::string(source_.text.substr(matrix_begin_, end - matrix_begin_));
    result_.layers.back().transitions.back().A = ReadMatrix(rows, source_.source);
    matrix_begin_ = std::string_view::npos;
  }

  std::vector<double> Numbers(std::string_view rest, size_t column) const {
    const std::string line = std::string(line_number_, '\n') + std::string(column, ' ') + std::string(rest);
    const Matrix numbers = ReadMatrix(line, source_.source);
    return {numbers.row(0).begin(), numbers.row(0).end()};
  }

  void Check(const TransitionLayer& layer) const {
    LRNN_CHECK(!layer.transitions.empty(), "{}: {} has no input", source_.source, layer.name);
    const int n = layer.transitions[0].A.rows();
    const auto fits = [n](const std::vector<double>& numbers) {
      return numbers.empty() || static_cast<int>(numbers.size()) == n;
    };
    LRNN_CHECK(fits(layer.start), "{}: {}: start has {} numbers, the matrices {} rows", source_.source, layer.name,
               layer.start.size(), n);
    for (const Transition& transition : layer.transitions) {
      LRNN_CHECK(transition.A.rows() == n && transition.A.cols() == n,
                 "{}: {}, input {}: expected a square matrix of {} rows, got {} rows and {} columns", source_.source,
                 layer.name, transition.input, n, transition.A.rows(), transition.A.cols());
      LRNN_CHECK(fits(transition.B), "{}: {}, input {}: offset has {} numbers, the matrix {} rows", source_.source,
                 layer.name, transition.input, transition.B.size(), n);
    }
  }

  SourceText source_;
  Transitions result_;
  size_t line_number_ = 0;                        // of the current line, from 0
  size_t matrix_begin_ = std::string_view::npos;  // the end of the line `input`, while its rows come
  size_t matrix_line_ = 0;
};

}  // namespace

int64_t Transitions::matrices() const {
  int64_t count = 0;
  for (const TransitionLayer& layer : layers) count += static_cast<int64_t>(layer.transitions.size());
  return count;
}

int Transitions::depth() const {
  int depth = 0;
  for (const TransitionLayer& layer : layers) depth = std::max(depth, layer.depth);
  return depth;
}

Transitions TransitionsOf(const AutomatonNetwork& network) {
  LRNN_CHECK(!network.is_jit(), "[TransitionsOf] mode jit has no tables: its layers are made as the letters come");
  Transitions result;
  for (size_t i = 0; i < network.levels.size(); ++i) {
    const AutomatonLevel& level = network.levels[i];
    for (const DeltaProductTable& table : level.layers) {
      const int depth = static_cast<int>(result.layers.size()) + 1;
      TransitionLayer& layer = result.layers.emplace_back();
      layer.name = fmt::format("layer {} (level {}, {})", depth, i + 1, Name(level.kind));
      layer.depth = depth;
      layer.start.assign(table.K, 0.0);
      for (int symbol = 0; symbol < table.symbols; ++symbol)
        layer.transitions.push_back(SymbolTransition(table, symbol));
    }
  }
  return result;
}

Transitions ReadTransitions(std::string_view text, std::string_view source) {
  const bool has_words = [&] {
    for (size_t line = 0; line < text.size();) {
      const size_t end = std::min(text.find('\n', line), text.size());
      const size_t first = text.find_first_not_of(" \t\r", line);
      if (first < end && std::isalpha(static_cast<unsigned char>(text[first]))) return true;
      line = end + 1;
    }
    return false;
  }();
  if (has_words) return TransitionReader(text, source).Read();
  Transitions result;
  const Matrix A = ReadMatrix(text, source);
  LRNN_CHECK(A.rows() == A.cols(), "{}: expected a square matrix, got {} rows and {} columns", source, A.rows(),
             A.cols());
  result.layers.push_back({"layer 1", 1, {}, {{"x", A, {}}}});
  return result;
}

}  // namespace lrnn
