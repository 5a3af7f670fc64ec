// For tests: automata with what their cascades must look like and the states that words lead to.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/automata/dfa.h"
#include "lrnn/compile/chain_system.h"
#include "lrnn/io/json_file.h"

namespace lrnn {

struct TheoryVector {
  std::string name, mode;  // relax, height or sub
  ChainKind chains;
  Dfa dfa;
  std::vector<int> sizes;          // labels of each level, from the top
  std::vector<bool> delay;         // of each level
  std::vector<std::string> kinds;  // of each layer
  std::vector<int> n_h;            // of each layer
  std::vector<std::vector<int>> words, states;
};

inline std::vector<TheoryVector> TheoryVectors() {
  const auto file = std::filesystem::path(__FILE__).parent_path() / "testdata" / "theory_vectors.json";
  std::vector<TheoryVector> vectors;
  for (const nlohmann::json& item : ReadJson(file)) {
    TheoryVector v;
    v.name = item.at("name");
    v.mode = item.at("mode");
    v.chains = v.mode == "sub" ? ChainKind::kSubsets : v.mode == "relax" ? ChainKind::kRelaxed : ChainKind::kHeight;
    v.dfa.next = item.at("delta");
    v.dfa.num_states = static_cast<int>(v.dfa.next[0].size());
    v.dfa.start = item.at("q0");
    v.dfa.accepting.resize(v.dfa.num_states);
    v.dfa.accepting[0] = true;
    for (size_t s = 0; s < v.dfa.next.size(); ++s) v.dfa.letters.push_back("s" + std::to_string(s));
    v.sizes = item.at("sizes").get<std::vector<int>>();
    for (const nlohmann::json& delay : item.at("delay")) v.delay.push_back(delay.get<int>() != 0);
    v.kinds = item.at("kinds").get<std::vector<std::string>>();
    v.n_h = item.at("nh").get<std::vector<int>>();
    v.words = item.at("words").get<std::vector<std::vector<int>>>();
    v.states = item.at("states").get<std::vector<std::vector<int>>>();
    vectors.push_back(std::move(v));
  }
  return vectors;
}

}  // namespace lrnn
