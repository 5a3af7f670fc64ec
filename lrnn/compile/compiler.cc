#include "lrnn/compile/compiler.h"

#include <map>
#include <memory>
#include <optional>

#include "lrnn/automata/minimise.h"
#include "lrnn/automata/monoid.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/chain_system.h"
#include "lrnn/compile/decomposition.h"
#include "lrnn/compile/group_layers.h"
#include "lrnn/compile/level_layers.h"
#include "lrnn/compile/periodic_word.h"

namespace lrnn {
namespace {

constexpr std::string_view kModeNames[] = {"auto", "relax", "sub", "height", "group", "jit"};

int FindName(std::string_view what, std::string_view name, std::span<const std::string_view> names) {
  for (size_t i = 0; i < names.size(); ++i) {
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
    if (!options_.negative_eigenvalues) CheckAperiodic();
    compiled.network = options_.mode == CompileMode::kAuto ? Auto() : InMode(options_.mode);
    compiled.notes = std::move(notes_);
    return compiled;
  }

 private:
  AutomatonNetwork Auto() {
    const bool is_group = options_.negative_eigenvalues && IsGroupAutomaton(dfa_);
    std::optional<AutomatonNetwork> best;
    if (is_group) best = TryGroup();
    if (best && best->mode == "rotation") return std::move(*best);
    // A group is one level with the states as labels in every chain system.
    std::vector<CompileMode> modes = {CompileMode::kRelax};
    if (!is_group) modes.push_back(CompileMode::kSub);
    if (!options_.negative_eigenvalues) modes.push_back(CompileMode::kHeight);
    for (const CompileMode mode : modes) {
      std::optional<AutomatonNetwork> network = TryTables(mode);
      if (network && (!best || Cost(*network) < Cost(*best))) best = std::move(network);
    }
    if (best) return std::move(*best);
    if (!options_.negative_eigenvalues) throw Failure(reason_);
    notes_.push_back(fmt::format("{}: mode jit takes over, which computes each letter's action as it comes", reason_));
    return Jit();
  }

  AutomatonNetwork InMode(CompileMode mode) {
    if (mode == CompileMode::kJit) return Jit();
    if (mode == CompileMode::kGroup) CheckGroup();
    std::optional<AutomatonNetwork> network = mode == CompileMode::kGroup ? TryGroup() : TryTables(mode);
    if (!network && !options_.negative_eigenvalues) throw Failure(reason_);
    if (!network) throw Failure(fmt::format("{}: mode jit has no such limit", reason_));
    return std::move(*network);
  }

  // Without negative eigenvalues there are only resets, and those make all aperiodic automata and no others. Mode
  // height shows which it is: its cascades of aperiodic automata permute nothing.
  void CheckAperiodic() {
    LRNN_CHECK(options_.mode != CompileMode::kJit, "mode jit: its layers swap, which takes the eigenvalue -1");
    const Dfa& dfa = letters_.reduced;
    if (const auto letter = FindPeriodicLetter(dfa)) RefusePeriodic(Describe(*letter, dfa));
    const std::optional<Cascade> cascade = TryCascade(CompileMode::kHeight);
    if (!cascade) throw Failure(fmt::format("{}: it stays open whether eigenvalues in [0, 1] are enough", reason_));
    if (const std::optional<int> set = PermutedSet(*cascade)) {
      const std::vector<int>& states = cascade->proof.sets[*set];
      const auto word = FindPeriodicWord(dfa, states);
      RefusePeriodic(
          word ? Describe(*word, dfa)
               : fmt::format("words permute {} states, {} and {} among them", states.size(), states[0], states[1]));
    }
  }

  [[noreturn]] void RefusePeriodic(const std::string& why) const {
    if (IsAperiodic(Minimise(dfa_)).value_or(false)) {
      Fail("eigenvalues in [0, 1] cannot follow these states: {}; the language is star-free: minimise the automaton",
           why);
    }
    Fail("eigenvalues in [0, 1] cannot do this: {}, so the language is not star-free; it takes eigenvalues in [-1, 1]",
         why);
  }

  void CheckGroup() const {
    for (int s = 0; s < dfa_.num_letters(); ++s) {
      std::map<int, int> from;
      for (int q = 0; q < dfa_.num_states; ++q) {
        const auto [other, is_new] = from.emplace(dfa_.next[s][q], q);
        LRNN_CHECK(is_new, "mode group: letter '{}' does not permute the states: it leads from {} and {} to {}",
                   dfa_.letters[s], other->second, q, dfa_.next[s][q]);
      }
    }
  }

  // Nothing, and the reason in reason_, when a limit is reached. So with TryTables and TryCascade.
  std::optional<AutomatonNetwork> TryGroup() {
    const std::optional<LetterGroup> group = FindLetterGroup(letters_.reduced, options_.max_group);
    if (!group) {
      reason_ = fmt::format("the letters generate a group of more than {} elements", options_.max_group);
      return std::nullopt;
    }
    if (group->order() == 1) return TryTables(CompileMode::kRelax);  // no letter does anything
    if (options_.rotations) {
      if (const auto power_of = CyclicPowers(*group)) {
        return FromGroup("rotation", BuildRotation(letters_.reduced, *group, *power_of));
      }
      notes_.push_back("the group is not cyclic: no rotations");
    }
    const PointAction action = FindPointAction(*group, options_.group_cost);
    return FromGroup("group", BuildPoints(letters_.reduced, *group, action, options_.keys));
  }

  AutomatonNetwork FromGroup(std::string_view mode, GroupLevel built) {
    AutomatonNetwork network = Empty(mode);
    network.levels.push_back(std::move(built.level));
    AddTables(network, built.first_context, std::move(built.proof));
    return network;
  }

  std::optional<AutomatonNetwork> TryTables(CompileMode mode) {
    std::optional<Cascade> cascade = TryCascade(mode);
    if (!cascade) return std::nullopt;
    if (!options_.negative_eigenvalues && PermutedSet(*cascade)) {
      reason_ = fmt::format("mode {} permutes labels here, which takes negative eigenvalues; mode height does not",
                            Name(mode));
      return std::nullopt;
    }
    return FromCascade(mode, std::move(*cascade));
  }

  std::optional<Cascade> TryCascade(CompileMode mode) {
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
    }
    return cascade;
  }

  AutomatonNetwork FromCascade(CompileMode mode, Cascade cascade) {
    AutomatonNetwork network = Empty(Name(mode));
    for (CascadeTables& tables : cascade.levels) {
      network.levels.push_back(
          BuildLevel(std::move(tables), {options_.keys, options_.joint, options_.negative_eigenvalues}));
    }
    AddTables(network, cascade.first_context, std::move(cascade.proof));
    return network;
  }

  // From the reduced letters to all.
  void AddTables(AutomatonNetwork& network, const std::vector<int>& first_context, CascadeProof proof) const {
    for (const int number : letters_.number) network.first_context.push_back(first_context[number]);
    for (auto& cases : proof.cases) {
      for (CascadeProof::Case& c : cases) c.letter = letters_.representative[c.letter];
    }
    network.proof = std::move(proof);
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

KeyStyle ParseKeyStyle(std::string_view name) { return static_cast<KeyStyle>(FindName("keys", name, KeyStyleNames())); }

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
