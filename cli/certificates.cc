#include "cli/certificates.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace lrnn::cli {
namespace {

std::vector<const Certificate*> All(const Certificates& certificates) {
  std::vector<const Certificate*> all{&certificates.local, &certificates.arithmetic};
  for (const Certificate& certificate : certificates.floats) all.push_back(&certificate);
  return all;
}

}  // namespace

void PrintNetwork(const AutomatonNetwork& network) {
  fmt::print("automaton   {} states, {} letters\n", network.dfa.num_states, network.dfa.num_letters());
  fmt::print("cascade     {}, {} levels, keys {}, eigenvalues in {}\n", network.mode, network.levels.size(),
             Name(network.keys), network.negative_eigenvalues ? "[-1,1]" : "[0,1]");
  for (size_t i = 0; i < network.levels.size(); ++i) {
    const AutomatonLevel& level = network.levels[i];
    fmt::print("  level {:<3} {}, {} labels, {} contexts\n", i + 1, Name(level.kind), level.tables.labels,
               level.tables.contexts());
    for (const DeltaProductTable& layer : level.layers) {
      fmt::print("            DeltaProduct layer: state of {}, {} Householder steps, {} symbols\n", layer.K, layer.n_h,
                 layer.symbols);
    }
  }
}

void PrintCertificates(const Certificates& certificates) {
  for (const Certificate* certificate : All(certificates)) {
    fmt::print("{:<14} {:<6} {} ({} checks)\n", certificate->name, certificate->holds ? "holds" : "FAILS",
               certificate->checked, certificate->nodes);
    if (!certificate->verdict.empty()) fmt::print("               {}\n", certificate->verdict);
  }
  const std::vector<std::string> formats = certificates.ProvedFormats();
  if (formats.empty()) {
    fmt::print("not proved in any float format\n");
  } else {
    fmt::print("proved: equal to the automaton on words of every length, in {}\n", fmt::join(formats, ", "));
  }
}

nlohmann::json ToJson(const AutomatonNetwork& network) {
  nlohmann::json json = {{"states", network.dfa.num_states},
                         {"letters", network.dfa.letters},
                         {"mode", network.mode},
                         {"keys", Name(network.keys)},
                         {"allow_neg_eigval", network.negative_eigenvalues},
                         {"levels", nlohmann::json::array()}};
  for (const AutomatonLevel& level : network.levels) {
    nlohmann::json layers = nlohmann::json::array();
    for (const DeltaProductTable& layer : level.layers) {
      layers.push_back({{"K", layer.K}, {"n_h", layer.n_h}, {"symbols", layer.symbols}});
    }
    json["levels"].push_back({{"kind", Name(level.kind)}, {"labels", level.tables.labels}, {"layers", layers}});
  }
  return json;
}

nlohmann::json ToJson(const Certificates& certificates) {
  nlohmann::json json = {{"proved_formats", certificates.ProvedFormats()}, {"certificates", nlohmann::json::array()}};
  for (const Certificate* certificate : All(certificates)) {
    json["certificates"].push_back({{"name", certificate->name},
                                    {"holds", certificate->holds},
                                    {"checked", certificate->checked},
                                    {"nodes", certificate->nodes},
                                    {"formats", certificate->formats},
                                    {"verdict", certificate->verdict}});
  }
  return json;
}

}  // namespace lrnn::cli
