#include "lrnn/compile/certify_float.h"

#include <numeric>
#include <set>

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

// Content that is a permutation of 0 .. labels-1, place i holding a as S_i = a - i. A swap of two places sees no
// others, so whatever two different numbers they hold, they must hold them exchanged, bit by bit; then the content is
// right after every sequence of swaps. swap(i, j, S) runs the micro-steps.
template <typename Number, typename Swap>
void SearchSwap(int i, int j, int labels, int copies, const Swap& swap, BitSearch& search) {
  std::vector<Number> S(static_cast<size_t>(labels) * copies, Number(0.0f)), exchanged = S;
  const auto put = [&](int place, int value, std::vector<Number>& to) {
    for (int copy = 0; copy < copies; ++copy) to[place * copies + copy] = Number(static_cast<float>(value - place));
  };
  for (int a = 0; a < labels; ++a) {
    for (int b = 0; b < labels; ++b) {
      if (a == b) continue;
      put(i, a, S);
      put(j, b, S);
      put(i, b, exchanged);
      put(j, a, exchanged);
      swap(i, j, S.data());
      ++search.nodes;
      ++search.steps;
      if (BitsOf(S.data(), std::ssize(S)) == BitsOf(exchanged.data(), std::ssize(S))) continue;
      search.wrong = fmt::format("places {} and {} that hold {} and {} are not exchanged", i, j, a, b);
      return;
    }
  }
}

// The first layer of a permuted slot, a micro-step at a time.
template <typename Number>
BitSearch SearchContent(const AutomatonNetwork& network, const AutomatonLevel& level, int64_t max_nodes) {
  const DeltaProductTable& layer = level.layers[0];
  const int labels = level.tables.labels;
  // A level whose letters are the layer's single micro-steps; only what it does to S is looked at.
  AutomatonNetwork probe;
  probe.negative_eigenvalues = network.negative_eigenvalues;
  AutomatonLevel& probed = probe.levels.emplace_back();
  probed.kind = LevelKind::kOneHot;
  probed.layers = {layer};
  probed.layers[0].symbols = layer.symbols * layer.n_h;
  probed.layers[0].n_h = 1;
  CascadeTables& tables = probed.tables;
  tables.labels = labels;
  tables.actions = {IdentityPermutation(labels)};
  for (int step = 0; step < layer.symbols * layer.n_h; ++step) {
    tables.actions.push_back(tables.actions[0]);
    tables.action_of.push_back(step);
    tables.next.push_back(std::vector<int>(labels, 0));
    probe.first_context.push_back(step);
  }
  const auto stepper = MakeStepper<Number>(probe);

  BitSearch search;
  std::set<std::vector<float>> seen;
  for (int action = 0; action < layer.symbols && search.wrong.empty(); ++action) {
    Permutation moved = IdentityPermutation(labels);  // where the micro-steps so far have taken the content
    for (int m = 0; m < layer.n_h && search.wrong.empty(); ++m) {
      const int step = action * layer.n_h + m;
      if (layer.beta[step] == 0.0f) continue;
      std::vector<float> factor(layer.k.begin() + static_cast<size_t>(step) * layer.K,
                                layer.k.begin() + static_cast<size_t>(step + 1) * layer.K);
      std::set<int> places;
      for (int row = 0; row < layer.K; ++row) {
        if (factor[row] != 0.0f) places.insert(row / layer.copies);
      }
      if (places.size() != 2) {
        search.wrong = fmt::format("a micro-step of action {} is not a swap of two places", action);
        break;
      }
      const int i = *places.begin(), j = *places.rbegin();
      for (int& place : moved) place = place == i ? j : place == j ? i : place;
      factor.insert(factor.end(), {layer.beta[step], layer.v[step]});
      if (!seen.insert(factor).second) continue;
      if (search.nodes > max_nodes) return search;
      const auto swap = [&](int, int, Number* S) { stepper->Step(step, S); };
      SearchSwap<Number>(i, j, labels, layer.copies, swap, search);
    }
    const bool is_reset = level.tables.IsReset(action);
    if (search.wrong.empty() && moved != (is_reset ? IdentityPermutation(labels) : level.tables.actions[action])) {
      search.wrong = fmt::format("the swaps of action {} do not make its permutation", action);
    }
  }
  search.closed = search.wrong.empty();
  return search;
}

// The second layer of a permuted slot: a slot by itself, whose writes are exact.
template <typename Number>
BitSearch SearchWrites(const AutomatonNetwork& network, const AutomatonLevel& level, int64_t max_nodes) {
  AutomatonNetwork probe;
  probe.negative_eigenvalues = network.negative_eigenvalues;
  AutomatonLevel& probed = probe.levels.emplace_back();
  probed.kind = LevelKind::kSlot;
  probed.delay = level.delay;
  probed.layers = {level.layers[1]};
  const int labels = level.tables.labels;
  probed.tables.labels = labels;
  probed.tables.actions = {IdentityPermutation(labels)};
  for (int y = 0; y < labels; ++y) probed.tables.actions.push_back(std::vector<int>(labels, y));
  for (int action = 0; action <= labels; ++action) {
    probed.tables.action_of.push_back(action);
    probed.tables.next.push_back(std::vector<int>(labels, 0));
    probe.first_context.push_back(action);
  }
  const auto stepper = MakeStepper<Number>(probe);
  const int copies = level.layers[1].copies;
  const float delayed_scale = network.negative_eigenvalues ? 1.0f : 2.0f;
  const auto step = [&](int y, int label, Number* S, std::string& wrong) {
    const int now = label % labels;
    stepper->Step(1 + y, S);
    const float holds = static_cast<float>(S[0]);
    const float before = level.delay ? delayed_scale * static_cast<float>(S[copies]) : static_cast<float>(now);
    if (holds != static_cast<float>(y) || before != static_cast<float>(now)) {
      wrong = fmt::format("the slot holds ({}, {}) instead of ({}, {})", holds, before, y, now);
    }
    return level.delay ? now * labels + y : y;
  };
  return SearchBits<Number>(stepper->StateSize(), 0, labels, max_nodes, step);
}

// The content of a jit level: the swaps of which its permutations are made.
template <typename Number>
BitSearch SearchJitContent(const JitLevel<Number>& level, int labels, int64_t max_nodes) {
  BitSearch search;
  Permutation permutation = IdentityPermutation(labels);
  const auto swap = [&](int i, int j, Number* S) {
    std::swap(permutation[i], permutation[j]);
    level.MoveContent(permutation, S);
    std::swap(permutation[i], permutation[j]);
  };
  for (int i = 0; i < labels; ++i) {
    for (int j = i + 1; j < labels; ++j) {
      if (search.nodes > max_nodes || !search.wrong.empty()) return search;
      SearchSwap<Number>(i, j, labels, level.ContentSize() / labels, swap, search);
    }
  }
  search.closed = search.wrong.empty();
  return search;
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

// The last level of a jit cascade: a sign that is flipped or written.
template <typename Number>
BitSearch SearchJitSign() {
  const FactorWriter writer(KeyStyle::kExact, 1, {1.0f});
  FactorWriter::Factors factors[3];
  writer.Flip(0, factors[0]);
  writer.Write(0, 1.0f, factors[1]);
  writer.Write(0, -1.0f, factors[2]);
  const auto step = [&](int letter, int label, Number* S, std::string& wrong) {
    ApplyFactors(factors[letter], S);
    const int after = letter == 0 ? 1 - label : letter - 1;
    const float sign = static_cast<float>(S[0] + Number(1.0f));
    if (sign != (after == 0 ? 1.0f : -1.0f)) wrong = fmt::format("a sign is {} for label {}", sign, after);
    return after;
  };
  return SearchBits<Number>(1, 0, 3, 2, step);
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
  for (size_t i = 0; i < network.levels.size() && searches.problem.empty(); ++i) {
    const AutomatonLevel& level = network.levels[i];
    const std::string place = fmt::format("level {}", i);
    if (level.kind == LevelKind::kPermutedSlot) {
      searches.Add(SearchContent<Number>(network, level, max_nodes), place);
      searches.Add(SearchWrites<Number>(network, level, max_nodes), place);
    } else {
      searches.Add(SearchLevel<Number>(network, level, max_nodes), place);
    }
  }
  if (!network.is_jit()) return searches;
  searches.Add(SearchJitSign<Number>(), "level of 2 labels");
  // The largest level: smaller ones have the same swaps and writes, of fewer places and numbers.
  if (const int labels = network.dfa.num_states; labels >= 3) {
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
