// lrnn factor: any contraction as a product of generalised Householder matrices.
#include "lrnn/compile/factor.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "lrnn/compile/eigenvalues.h"
#include "lrnn/compile/matrix_text.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string matrix;
  std::string out;
  double tolerance = 1e-6;
  bool json = false;
};

nlohmann::json ToJson(const Factorisation& result, int n, const std::vector<std::complex<double>>& eigenvalues) {
  nlohmann::json json = {{"format", "lrnn.factors"},
                         {"version", 1},
                         {"rows", n},
                         {"orthogonal", result.is_orthogonal},
                         {"norm", result.norm},
                         {"lower_bound", result.lower_bound},
                         {"residual", result.residual},
                         {"eigenvalues", nlohmann::json::array()},
                         {"factors", nlohmann::json::array()}};
  for (const auto value : eigenvalues) json["eigenvalues"].push_back({value.real(), value.imag()});
  for (const HouseholderMatrix& factor : result.factors) {
    json["factors"].push_back({{"beta", factor.beta}, {"k", factor.k}});
  }
  return json;
}

void Print(const Factorisation& result, int n, const std::vector<std::complex<double>>& eigenvalues) {
  fmt::print("matrix      {} x {}, {}, norm {:.9g}\n", n, n, result.is_orthogonal ? "orthogonal" : "a contraction",
             result.norm);
  std::vector<std::string> values;
  for (const auto value : eigenvalues) values.push_back(EigenvalueText(value));
  fmt::print("eigenvalues {}\n", fmt::join(values, "  "));
  const int count = static_cast<int>(result.factors.size());
  fmt::print("factors     {}{}\n", count,
             count == result.lower_bound
                 ? ": no fewer will do, rank(M - I) is the same"
                 : fmt::format("; rank(M - I) = {}, so fewer than that cannot do", result.lower_bound));
  for (int i = 0; i < count; ++i) {
    const HouseholderMatrix& factor = result.factors[i];
    std::vector<std::string> key;
    for (const double entry : factor.k) key.push_back(EigenvalueText(entry));
    fmt::print("  F{:<4} beta {:<10.6g} eigenvalue {:<10.6g} k = ({})\n", i + 1, factor.beta, 1.0 - factor.beta,
               fmt::join(key, ", "));
  }
  fmt::print("residual    {:.2g}: the largest entry of |F1 F2 ... - M|; the last factor acts first\n", result.residual);
}

void RunFactor(const Options& options) {
  const Matrix matrix = ReadMatrix(ReadFile(options.matrix), options.matrix);
  const Factorisation result = Factor(matrix, options.tolerance);
  const auto eigenvalues = Eigenvalues(matrix);
  const nlohmann::json json = ToJson(result, matrix.rows(), eigenvalues);
  if (!options.out.empty()) WriteJson(options.out, json);
  if (options.json) {
    fmt::print("{}\n", json.dump());
  } else {
    Print(result, matrix.rows(), eigenvalues);
  }
}

}  // namespace

void AddFactor(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("factor", "write a contraction as generalised Householder factors I - beta k k^T");
  command->footer(
      "MATRIX is a file: a line for each row, numbers separated by blanks or commas, # for comments; or JSON, a list\n"
      "of rows. Orthogonal matrices become rank(I - Q) reflections, the fewest there are; other contractions of n\n"
      "rows at most 2 n factors. A matrix of norm above 1 is refused: no product of such factors is that long.\n\n"
      "  printf '0 -1\\n1 0\\n' > turn.txt && lrnn factor turn.txt");
  command->add_option("MATRIX", options->matrix, "a file with a square matrix")->required();
  command->add_option("-o,--out", options->out, "write the factors as JSON");
  command
      ->add_option("--tolerance", options->tolerance,
                   "singular values this close to 0 or 1 count as 0 or 1: how well the matrix is known")
      ->capture_default_str()
      ->check(CLI::Range(1e-14, 0.1));
  command->add_flag("--json", options->json, "print the JSON object");
  command->callback([options] { RunFactor(*options); });
}

}  // namespace lrnn::cli
