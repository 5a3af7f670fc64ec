#include "lrnn/compile/certify_float.h"

#include <numeric>

#include "lrnn/automata/permutation.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/bit_search.h"
#include "lrnn/runtime/automaton_stepper.h"
#include "lrnn/runtime/bf16.h"
#include "lrnn/runtime/jit_level.h"

namespace lrnn {
namespace {

template <typename Number>
constexpr const char* kFormat = "fp32";
template <>
constexpr const char* kFormat<double> = "fp64";
template <>
constexpr const char* kFormat<Bf16> = "bf16";

template <typename Number>
BitSearch SearchNetwork(const AutomatonNetwork& network, int64_t max_nodes) {
  const Dfa& dfa = network.dfa;
  const auto stepper = MakeStepper<Number>(network);
  const auto step = [&](int letter, int state, Number* S, std::string& wrong) {
    const int after = stepper->Step(letter, S);
    const int expected = dfa.next[letter][state];
    if (after != expected) {
      wrong = fmt::format("letter '{}' leads from state {} to {}, the network says {}", dfa.letters[letter], state,
                          expected, after < 0 ? "none" : std::to_string(after));
    }
    return expected;
  };
  return SearchBits<Number>(stepper->StateSize(), dfa.start, dfa.num_letters(), max_nodes, step);
}

// A network of one level whose letters are the level's actions, and one more that does nothing; its "state" after an
// action is the label before it (0 where a reset has lost it).
AutomatonNetwork ProbeOf(const AutomatonNetwork& network, const AutomatonLevel& level) {
  AutomatonNetwork probe;
  probe.negative_eigenvalues = network.negative_eigenvalues;
  probe.levels = {level};
  AutomatonLevel& probed = probe.levels[0];
  CascadeTables& tables = probed.tables;
  tables.actions.push_back(IdentityPermutation(tables.labels));
  const int actions = static_cast<int>(tables.actions.size());
  tables.action_of.resize(actions);
  std::iota(tables.action_of.begin(), tables.action_of.end(), 0);
  tables.next.clear();
  for (int a = 0; a < actions; ++a) {
    const bool is_lost = tables.IsReset(a) && !level.delay;
    tables.next.push_back(is_lost ? std::vector<int>(tables.labels, 0) : IdentityPermutation(tables.labels));
  }
  probe.first_context = tables.action_of;
  if (!probed.layers.empty()) {
    DeltaProductTable& layer = probed.layers[0];
    ++layer.symbols;
    layer.k.resize(layer.k.size() + static_cast<size_t>(layer.n_h) * layer.K, 0.0f);
    layer.beta.resize(layer.beta.size() + layer.n_h, 0.0f);
    layer.v.resize(layer.v.size() + layer.n_h, 0.0f);
  }
  return probe;
}

template <typename Number>
BitSearch SearchLevel(const AutomatonNetwork& network, const AutomatonLevel& level, int64_t max_nodes) {
  const AutomatonNetwork probe = ProbeOf(network, level);
  const CascadeTables& tables = probe.levels[0].tables;
  const auto stepper = MakeStepper<Number>(probe);
  const int actions = static_cast<int>(level.tables.actions.size());
  const auto step = [&](int action, int label, Number* S, std::string& wrong) {
    const int before = stepper->Step(action, S);
    const int after = tables.actions[action][label];
    const bool is_lost = tables.IsReset(action) && !level.delay;
    if (!is_lost && before != label) {
      wrong = fmt::format("after action {} the label before is read as {} instead of {}", action, before, label);
    }
    const int read = stepper->Step(actions, S);
    if (read != after) {
      wrong = fmt::format("after action {} the label is read as {} instead of {}", action, read, after);
    }
    return after;
  };
  return SearchBits<Number>(stepper->StateSize(), 0, actions, max_nodes, step);
}

// The rank of a permutation among all of its degree, in lexicographic order, and back.
int RankOf(std::span<const int> permutation) {
  int rank = 0;
  for (size_t i = 0; i < permutation.size(); ++i) {
    int smaller = 0;
    for (size_t j = i + 1; j < permutation.size(); ++j) smaller += permutation[j] < permutation[i];
    rank = rank * static_cast<int>(permutation.size() - i) + smaller;
  }
  return rank;
}

Permutation OfRank(int rank, int degree) {
  Permutation permutation(degree);
  for (int i = degree - 1; i >= 0; --i) {
    permutation[i] = rank % (degree - i);
    rank /= degree - i;
  }
  for (int i = degree - 1; i >= 0; --i) {
    for (int j = i + 1; j < degree; ++j) permutation[j] += permutation[j] >= permutation[i];
  }
  return permutation;
}

constexpr int kMaxJitLabels = 8;  // 8! contents

// The content of a jit level under every sequence of swaps, of which its permutations are made. Reading is tried on
// every content with every slot.
template <typename Number>
BitSearch SearchJitContent(const JitLevel<Number>& level, int labels, int64_t max_nodes) {
  std::vector<Permutation> swaps;
  for (int i = 0; i < labels; ++i) {
    for (int j = i + 1; j < labels; ++j) {
      swaps.push_back(IdentityPermutation(labels));
      std::swap(swaps.back()[i], swaps.back()[j]);
    }
  }
  const auto step = [&](int letter, int rank, Number* S, std::string& wrong) {
    const Permutation content = OfRank(rank, labels);
    Permutation moved(labels);
    for (int place = 0; place < labels; ++place) moved[swaps[letter][place]] = content[place];
    level.MoveContent(swaps[letter], S);
    for (int place = 0; place < labels; ++place) {
      if (level.Content(S, place) != static_cast<float>(moved[place]) ||
          level.Find(S, static_cast<float>(moved[place])) != place) {
        wrong = fmt::format("place {} holds {} instead of {}", place, level.Content(S, place), moved[place]);
      }
    }
    return RankOf(moved);
  };
  return SearchBits<Number>(level.ContentSize(), 0, static_cast<int>(swaps.size()), max_nodes, step);
}

template <typename Number>
BitSearch SearchJitSlot(const JitLevel<Number>& level, int labels, int64_t max_nodes) {
  const auto step = [&](int y, int label, Number* slot, std::string& wrong) {
    const int now = label % labels;
    level.Write(static_cast<float>(y), slot);
    if (level.SlotContent(slot, 0) != static_cast<float>(y) || level.SlotContent(slot, 1) != static_cast<float>(now)) {
      wrong = fmt::format("a slot holds ({}, {}) instead of ({}, {})", level.SlotContent(slot, 0),
                          level.SlotContent(slot, 1), y, now);
    }
    return now * labels + y;
  };
  return SearchBits<Number>(level.SlotSize(), 0, labels, max_nodes, step);
}

// The searches of the single levels: all closed, or the first that is not.
struct LevelSearches {
  void Add(const BitSearch& search, const std::string& place) {
    nodes += search.nodes;
    steps += search.steps;
    if (search.closed || !problem.empty()) return;
    problem = search.wrong.empty() ? fmt::format("{}: not closed after {} states", place, search.nodes)
                                   : fmt::format("{}: {}", place, search.wrong);
  }
  int64_t nodes = 0, steps = 0;
  std::string problem;
};

template <typename Number>
LevelSearches SearchLevels(const AutomatonNetwork& network, int64_t max_nodes) {
  LevelSearches searches;
  for (size_t i = 0; i < network.levels.size(); ++i) {
    searches.Add(SearchLevel<Number>(network, network.levels[i], max_nodes), fmt::format("level {}", i));
  }
  if (!network.is_jit()) return searches;
  if (network.dfa.num_states > kMaxJitLabels) {
    searches.problem = fmt::format("levels of more than {} labels are too large to search", kMaxJitLabels);
    return searches;
  }
  for (int labels = network.dfa.num_states; labels >= 3; --labels) {
    const JitLevel<Number> level(labels, network.keys);
    const std::string place = fmt::format("level of {} labels", labels);
    searches.Add(SearchJitContent(level, labels, max_nodes), place);
    searches.Add(SearchJitSlot(level, labels, max_nodes), place);
  }
  return searches;
}

}  // namespace

template <typename Number>
Certificate CertifyFloat(const AutomatonNetwork& network, const FloatSearchLimits& limits) {
  Certificate certificate;
  certificate.name = "C3 float";
  const BitSearch whole = SearchNetwork<Number>(network, limits.max_nodes);
  certificate.nodes = whole.nodes;
  certificate.checked = fmt::format("{} pairs of layer states and automaton states, {} steps in {}", whole.nodes,
                                    whole.steps, kFormat<Number>);
  if (whole.closed) {
    certificate.holds = true;
    certificate.verdict = "closed: right on words of every length, on the kernel that runs";
  } else if (!whole.wrong.empty()) {
    certificate.verdict = fmt::format("word of length {}: {}", whole.depth + 1, whole.wrong);
  } else {
    const LevelSearches levels = SearchLevels<Number>(network, limits.max_level_nodes);
    certificate.holds = levels.problem.empty();
    certificate.needs_local = true;
    if (certificate.holds) {
      certificate.nodes = levels.nodes;
      certificate.checked = fmt::format("{} pairs of layer states and labels, level by level, {} steps in {}",
                                        levels.nodes, levels.steps, kFormat<Number>);
      certificate.verdict = "closed for each level: with C1 right on words of every length, on the kernel that runs";
    } else {
      certificate.verdict = fmt::format("not closed: right on words up to length {} ({})", whole.depth, levels.problem);
    }
  }
  if (certificate.holds) certificate.formats = {kFormat<Number>};
  return certificate;
}

template Certificate CertifyFloat<float>(const AutomatonNetwork&, const FloatSearchLimits&);
template Certificate CertifyFloat<double>(const AutomatonNetwork&, const FloatSearchLimits&);
template Certificate CertifyFloat<Bf16>(const AutomatonNetwork&, const FloatSearchLimits&);

}  // namespace lrnn
