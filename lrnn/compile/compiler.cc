#include "lrnn/compile/compiler.h"

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "lrnn/base/error.h"
#include "lrnn/compile/chain_system.h"
#include "lrnn/compile/decomposition.h"
#include "lrnn/compile/level_layers.h"

namespace lrnn {
namespace {

constexpr std::array<std::string_view, 6> kModeNames = {"auto", "relax", "sub", "height", "group", "jit"};
constexpr std::array<std::string_view, 3> kKeyNames = {"exact", "dup", "unit"};

template <size_t N>
int FindName(std::string_view what, std::string_view name, const std::array<std::string_view, N>& names) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(i);
  }
  Fail("unknown {} \"{}\" (known: {})", what, name, fmt::join(names, ", "));
}

ChainKind ChainsOf(CompileMode mode) {
  return mode == CompileMode::kSub      ? ChainKind::kSubsets
         : mode == CompileMode::kHeight ? ChainKind::kHeight
                                        : ChainKind::kRelaxed;
}

// Letters that do the same are one letter for the cascade.
struct DistinctLetters {
  explicit DistinctLetters(const Dfa& dfa) {
    std::map<std::vector<int>, int> numbers;
    reduced = {dfa.num_states, {}, {}, dfa.start, dfa.accepting};
    for (int s = 0; s < dfa.num_letters(); ++s) {
      const auto [entry, is_new] = numbers.emplace(dfa.next[s], reduced.num_letters());
      if (is_new) {
        reduced.letters.push_back(dfa.letters[s]);
        reduced.next.push_back(dfa.next[s]);
        representative.push_back(s);
      }
      number.push_back(entry->second);
    }
  }

  Dfa reduced;
  std::vector<int> number;          // [letter]: of the reduced automaton
  std::vector<int> representative;  // [letter of the reduced automaton]
};

class Compiler {
 public:
  Compiler(const Dfa& dfa, const CompileOptions& options) : dfa_(dfa), options_(options), letters_(dfa) {}

  Compiled Run() {
    Compiled compiled;
    compiled.network = options_.mode == CompileMode::kAuto ? Auto() : InMode(options_.mode);
    compiled.notes = std::move(notes_);
    return compiled;
  }

 private:
  AutomatonNetwork Auto() {
    std::optional<AutomatonNetwork> best;
    for (const CompileMode mode : {CompileMode::kRelax, CompileMode::kSub}) {
      std::optional<AutomatonNetwork> network = TryTables(mode);
      if (network && (!best || Cost(*network) < Cost(*best))) best = std::move(network);
    }
    if (best) return std::move(*best);
    notes_.push_back(fmt::format("{}: mode jit takes over, which computes each letter's action as it comes", reason_));
    return Jit();
  }

  AutomatonNetwork InMode(CompileMode mode) {
    if (mode == CompileMode::kJit) return Jit();
    std::optional<AutomatonNetwork> network = TryTables(mode);
    if (!network) throw Failure(fmt::format("{}: mode jit has no such limit", reason_));
    return std::move(*network);
  }

  // Nothing, and the reason in reason_, when a limit is reached.
  std::optional<AutomatonNetwork> TryTables(CompileMode mode) {
    if (dfa_.num_states > StateSet::kMaxStates) {
      reason_ =
          fmt::format("tables are made for at most {} states, here are {}", StateSet::kMaxStates, dfa_.num_states);
      return std::nullopt;
    }
    const std::unique_ptr<ChainSystem> chains = MakeChainSystem(letters_.reduced, ChainsOf(mode), options_.max_sets);
    if (!chains) {
      reason_ = fmt::format("the tables need more than {} sets of states", options_.max_sets);
      return std::nullopt;
    }
    std::optional<Cascade> cascade = Decompose(letters_.reduced, *chains, options_.max_cases);
    if (!cascade) {
      reason_ = fmt::format("the tables need more than {} cases", options_.max_cases);
      return std::nullopt;
    }
    return FromCascade(mode, std::move(*cascade));
  }

  AutomatonNetwork FromCascade(CompileMode mode, Cascade cascade) {
    AutomatonNetwork network = Empty(Name(mode));
    for (CascadeTables& tables : cascade.levels) {
      network.levels.push_back(
          BuildLevel(std::move(tables), {options_.keys, options_.joint, options_.negative_eigenvalues}));
    }
    for (const int number : letters_.number) network.first_context.push_back(cascade.first_context[number]);
    network.proof = std::move(cascade.proof);
    for (auto& cases : network.proof.cases) {
      for (CascadeProof::Case& c : cases) c.letter = letters_.representative[c.letter];
    }
    return network;
  }

  AutomatonNetwork Jit() const { return Empty(Name(CompileMode::kJit)); }

  AutomatonNetwork Empty(std::string_view mode) const {
    AutomatonNetwork network;
    network.dfa = dfa_;
    network.mode = mode;
    network.keys = options_.keys;
    network.negative_eigenvalues = options_.negative_eigenvalues;
    return network;
  }

  const Dfa& dfa_;
  const CompileOptions& options_;
  DistinctLetters letters_;
  std::string reason_;
  std::vector<std::string> notes_;
};

}  // namespace

std::string_view Name(CompileMode mode) { return kModeNames[static_cast<int>(mode)]; }

CompileMode ParseCompileMode(std::string_view name) {
  return static_cast<CompileMode>(FindName("mode", name, kModeNames));
}

KeyStyle ParseKeyStyle(std::string_view name) { return static_cast<KeyStyle>(FindName("keys", name, kKeyNames)); }

int64_t Cost(const AutomatonNetwork& network) {
  int64_t cost = 0;
  for (const AutomatonLevel& level : network.levels) {
    for (const DeltaProductTable& layer : level.layers) cost += 1 + layer.n_h;
  }
  return cost;
}

Compiled Compile(const Dfa& dfa, const CompileOptions& options) {
  Validate(dfa);
  return Compiler(dfa, options).Run();
}

}  // namespace lrnn
