#include "cli/analyze_compiled.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "lrnn/compile/eigenvalues.h"
#include "lrnn/compile/letter_spectrum.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn::cli {

void AnalyzeCompiled(const std::filesystem::path& path, bool json) {
  const AutomatonNetwork network = ReadAutomaton(ModelDirectory::Open(path));
  const std::vector<LetterSpectrum> spectra = LetterSpectra(network);
  const char* range = network.negative_eigenvalues ? "[-1,1]" : "[0,1]";
  if (json) {
    nlohmann::json result = {{"model", path.string()}, {"range", range}, {"letters", nlohmann::json::array()}};
    for (const LetterSpectrum& spectrum : spectra) {
      nlohmann::json values = nlohmann::json::array();
      for (const auto& value : spectrum.eigenvalues) values.push_back({value.real(), value.imag()});
      result["letters"].push_back({{"letter", network.dfa.letters[spectrum.letter]},
                                   {"level", spectrum.level + 1},
                                   {"layer", spectrum.layer + 1},
                                   {"eigenvalues", values}});
    }
    fmt::print("{}\n", result.dump());
    return;
  }
  fmt::print("{}: eigenvalues of the state transitions, letter by letter; each factor's in {}\n", path.string(), range);
  if (network.is_jit()) {
    fmt::print("mode jit writes its factors as they are needed: swaps and flips (-1, 1) and writes (0, 1)\n");
    return;
  }
  fmt::print("{:>5} {:>5}  {:<10} {}\n", "level", "layer", "letter", "eigenvalues");
  for (const LetterSpectrum& spectrum : spectra) {
    std::vector<std::string> values;
    for (const auto& value : spectrum.eigenvalues) values.push_back(EigenvalueText(value));
    fmt::print("{:>5} {:>5}  {:<10} {}\n", spectrum.level + 1, spectrum.layer + 1, network.dfa.letters[spectrum.letter],
               fmt::join(values, "  "));
  }
}

}  // namespace lrnn::cli
