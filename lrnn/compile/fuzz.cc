#include "lrnn/compile/fuzz.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "lrnn/automata/minimise.h"
#include "lrnn/automata/monoid.h"
#include "lrnn/automata/random_dfa.h"
#include "lrnn/automata/table.h"
#include "lrnn/base/error.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/certify.h"
#include "lrnn/runtime/automaton_stepper.h"
#include "lrnn/runtime/bf16.h"

namespace lrnn {
namespace {

enum Purpose : uint64_t { kAutomata, kOptions, kWords };

Rng RngFor(uint64_t seed, Purpose purpose, uint64_t index) { return Rng(DeriveSeed(seed, purpose), index); }

int Draw(Rng& rng, int low, int high) { return static_cast<int>(rng.Between(low, high)); }

std::vector<int> RandomPermutation(Rng& rng, int n) {
  std::vector<int> map = IdentityPermutation(n);
  for (int i = n - 1; i > 0; --i) std::swap(map[i], map[Draw(rng, 0, i)]);
  return map;
}

std::vector<int> RandomMap(Rng& rng, int n, int images) {
  std::vector<int> onto, map;
  for (int i = 0; i < images; ++i) onto.push_back(Draw(rng, 0, n - 1));
  for (int q = 0; q < n; ++q) map.push_back(onto[Draw(rng, 0, images - 1)]);
  return map;
}

std::vector<int> RandomMonotone(Rng& rng, int n) {
  std::vector<int> map = RandomMap(rng, n, n);
  std::sort(map.begin(), map.end());
  return map;
}

// A word of uniform letters, or of long runs of the same one.
std::vector<int> RandomWord(Rng& rng, int letters, int max_length) {
  const int length = Draw(rng, 1, max_length);
  const bool has_runs = rng.Below(2) == 1;
  std::vector<int> word;
  while (static_cast<int>(word.size()) < length) {
    const int run = has_runs ? Draw(rng, 1, 40) : 1;
    word.insert(word.end(), run, Draw(rng, 0, letters - 1));
  }
  word.resize(length);
  return word;
}

// "" when the states of all words are those of the automaton.
template <typename Number>
std::string RunWords(const AutomatonNetwork& network, const std::vector<std::vector<int>>& words, const char* format) {
  const auto stepper = MakeStepper<Number>(network);
  std::vector<Number> S;
  std::vector<int> states;
  for (const std::vector<int>& word : words) {
    S.assign(stepper->StateSize(), Number(0.0f));
    states.resize(word.size());
    stepper->Run(word, S.data(), states.data());
    int state = network.dfa.start;
    for (size_t t = 0; t < word.size(); ++t) {
      state = network.dfa.next[word[t]][state];
      if (states[t] != state) {
        return fmt::format("{}: state {} instead of {} after {} letters", format, states[t], state, t + 1);
      }
    }
  }
  return "";
}

bool IsRounded(const CompileOptions& options) { return options.keys == KeyStyle::kUnit || options.rotations; }

}  // namespace

Dfa FuzzDfa(const FuzzLimits& limits, uint64_t seed, uint64_t index) {
  Rng rng = RngFor(seed, kAutomata, index);
  const int states = Draw(rng, 2, limits.max_states), letters = Draw(rng, 1, limits.max_letters);
  const uint32_t kind = rng.Below(8);
  Dfa dfa = RandomDfa(rng, states, letters);
  if (kind < 4) return dfa;
  dfa.num_states = states;
  dfa.accepting.assign(states, false);
  for (int q = 0; q < states; ++q) dfa.accepting[q] = rng.Below(2) == 1;
  for (std::vector<int>& row : dfa.next) {
    if (kind == 7) {
      row = RandomMonotone(rng, states);
    } else if (kind == 6 || rng.Below(2) == 1) {
      row = RandomPermutation(rng, states);
    } else {
      row = RandomMap(rng, states, Draw(rng, 1, states - 1));
    }
  }
  dfa.start = Draw(rng, 0, states - 1);
  return Trim(dfa);
}

std::vector<FuzzTrial> FuzzTrials(const Dfa& dfa, const FuzzLimits& limits, uint64_t seed, uint64_t index) {
  Rng rng = RngFor(seed, kOptions, index);
  std::vector<FuzzTrial> trials;
  const auto add = [&](std::string mode, CompileOptions options) {
    constexpr KeyStyle kKeys[] = {KeyStyle::kExact, KeyStyle::kExact, KeyStyle::kExact, KeyStyle::kExact,
                                  KeyStyle::kDup,   KeyStyle::kDup,   KeyStyle::kDup,   KeyStyle::kUnit};
    options.keys = kKeys[rng.Below(8)];
    options.joint = rng.Below(3) == 0;
    options.group_cost = rng.Below(2) == 0 ? GroupCost::kReflections : GroupCost::kDegree;
    options.max_group = limits.max_group;
    FuzzTrial& trial = trials.emplace_back();
    trial.mode = std::move(mode);
    trial.is_exact = !IsRounded(options);
    trial.options = options;
  };
  for (const CompileMode mode :
       {CompileMode::kAuto, CompileMode::kRelax, CompileMode::kSub, CompileMode::kHeight, CompileMode::kJit}) {
    add(std::string(Name(mode)), {.mode = mode});
  }
  if (IsGroupAutomaton(dfa)) {
    if (const auto group = FindLetterGroup(dfa, limits.max_group)) {
      add("group", {.mode = CompileMode::kGroup});
      if (group->order() > 2 && CyclicPowers(*group)) {
        add("rotation", {.mode = CompileMode::kGroup, .rotations = true});
      }
    }
  }
  if (IsAperiodic(dfa).value_or(false)) {
    add("height [0,1]", {.mode = CompileMode::kHeight, .negative_eigenvalues = false});
  }
  return trials;
}

void CheckFuzzNetwork(const AutomatonNetwork& network, const FuzzLimits& limits, uint64_t seed, uint64_t index,
                      FuzzTrial& trial) {
  Validate(network, "network");
  // All layers together only where that is quick, else level by level; rounded states seldom close: no need to wait.
  const Certificates certificates =
      Certify(network, {.max_nodes = 2'000, .max_level_nodes = trial.is_exact ? 4'000'000 : 1});
  const std::vector<std::string> proved = certificates.ProvedFormats();
  const auto is_proved = [&](const char* format) { return std::count(proved.begin(), proved.end(), format) > 0; };
  trial.is_proved = is_proved("fp32") && is_proved("bf16");
  std::vector<const Certificate*> needed = {&certificates.local};
  if (trial.is_exact) {
    needed.push_back(&certificates.arithmetic);
    for (const Certificate& certificate : certificates.floats) needed.push_back(&certificate);
  }
  for (const Certificate* certificate : needed) {
    if (!certificate->holds && trial.problem.empty()) {
      trial.problem = fmt::format("{}: {}", certificate->name, certificate->verdict);
    }
  }
  if (trial.problem.empty() && trial.is_exact && !trial.is_proved) {
    trial.problem = fmt::format("proved in {} only", fmt::join(proved, ", "));
  }

  Rng rng = RngFor(seed, kWords, index);
  std::vector<std::vector<int>> words;
  const int formats = trial.is_exact ? 2 : 1;
  for (int i = 0; i < limits.words; ++i) {
    words.push_back(RandomWord(rng, network.dfa.num_letters(), limits.max_length));
    trial.words += formats;
    trial.tokens += formats * static_cast<int64_t>(words.back().size());
  }
  if (trial.problem.empty()) trial.problem = RunWords<float>(network, words, "fp32");
  if (trial.problem.empty() && trial.is_exact) trial.problem = RunWords<Bf16>(network, words, "bf16");
}

void RunFuzzTrial(const Dfa& dfa, const FuzzLimits& limits, uint64_t seed, uint64_t index, FuzzTrial& trial) {
  try {
    CheckFuzzNetwork(Compile(dfa, trial.options).network, limits, seed, index, trial);
  } catch (const Error& error) {
    trial.problem = error.what();
  }
}

std::string FuzzReport(const Dfa& dfa, uint64_t seed, uint64_t index, const FuzzTrial& trial) {
  const CompileOptions& options = trial.options;
  std::string arguments = fmt::format("--mode {} --keys {}", Name(options.mode), Name(options.keys));
  if (options.joint) arguments += " --joint";
  if (options.rotations) arguments += " --rotations";
  if (!options.negative_eigenvalues) arguments += " --range 0,1";
  std::string problem = trial.problem;
  std::replace(problem.begin(), problem.end(), '\n', ' ');
  return fmt::format("# {}\n#   lrnn fuzz --seed {} --first {} --count 1\n#   lrnn compile --dfa THIS_FILE {} -o m\n{}",
                     problem, seed, index, arguments, WriteTable(dfa));
}

}  // namespace lrnn
