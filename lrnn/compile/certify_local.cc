#include "lrnn/compile/certify_local.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

class LocalCheck {
 public:
  explicit LocalCheck(const AutomatonNetwork& network)
      : net_(network), dfa_(network.dfa), proof_(network.proof), levels_(static_cast<int>(network.levels.size())) {}

  // Throws an Error that says what is wrong.
  void Run() {
    ReadProof();
    CheckStart();
    CheckLetters();
    for (int level = 0; level < levels_; ++level) {
      CheckDelay(level);
      for (const CascadeProof::Case& c : proof_.cases[level]) CheckCase(level, c);
    }
  }

  int64_t checks() const { return checks_; }

 private:
  static uint64_t Key(int from, int to, int letter) {
    return (static_cast<uint64_t>(from) << 40) | (static_cast<uint64_t>(to) << 16) | static_cast<uint64_t>(letter);
  }

  void ReadProof() {
    const size_t count = proof_.sets.size();
    LRNN_CHECK(count > 0 && count < (1u << 24), "the network carries no proof");
    LRNN_CHECK(proof_.level_of.size() == count && proof_.children.size() == count &&
                   static_cast<int>(proof_.cases.size()) == levels_,
               "the parts of the proof are of different sizes");
    for (const std::vector<int>& set : proof_.sets) {
      for (size_t i = 0; i < set.size(); ++i) {
        LRNN_CHECK(set[i] >= (i == 0 ? 0 : set[i - 1] + 1) && set[i] < dfa_.num_states,
                   "a set of the proof does not list states in increasing order");
      }
    }
    for (size_t set = 0; set < count; ++set) {
      const int level = proof_.level_of[set];
      LRNN_CHECK(level >= -1 && level < levels_, "set {} of the proof belongs to level {}", set, level);
      const size_t labels = level < 0 ? 0 : net_.levels[level].tables.labels;
      LRNN_CHECK(proof_.children[set].size() == labels, "set {} of the proof: expected {} children, got {}", set,
                 labels, proof_.children[set].size());
      for (const int child : proof_.children[set]) CheckSet(child, -1);
    }
    context_of_.resize(levels_);
    for (int level = 0; level < levels_; ++level) {
      const int contexts = net_.levels[level].tables.contexts();
      for (const CascadeProof::Case& c : proof_.cases[level]) {
        CheckSet(c.from, 0);
        CheckSet(c.to, 0);
        LRNN_CHECK(c.letter >= 0 && c.letter < dfa_.num_letters() && c.letter < (1 << 16),
                   "level {}: a case of letter {}", level, c.letter);
        LRNN_CHECK(c.context >= 0 && c.context < contexts, "level {}: a case of context {}", level, c.context);
        LRNN_CHECK(context_of_[level].emplace(Key(c.from, c.to, c.letter), c.context).second,
                   "level {}: a case stands twice", level);
      }
    }
  }

  static std::string Place(int level) { return level < 0 ? "first contexts" : fmt::format("level {}", level); }

  void CheckSet(int set, int least) const {
    LRNN_CHECK(set >= least && set < static_cast<int>(proof_.sets.size()), "set {} is not in the proof", set);
  }

  // Labels 0 from the set of all states lead to the start state.
  void CheckStart() {
    LRNN_CHECK(static_cast<int>(proof_.sets[0].size()) == dfa_.num_states,
               "the first set of the proof is not that of all states");
    int set = 0;
    for (int level = 0; level < levels_; ++level) {
      if (proof_.level_of[set] != level) continue;
      set = proof_.children[set][0];
      LRNN_CHECK(set >= 0, "level {}: label 0 names no child at the start", level);
    }
    LRNN_CHECK(proof_.sets[set] == std::vector<int>{dfa_.start}, "labels 0 do not lead to the start state");
    ++checks_;
  }

  // Letters that do the same share the cases of the first of them.
  void CheckLetters() {
    std::map<std::vector<int>, int> first;
    for (int s = 0; s < dfa_.num_letters(); ++s) {
      const int letter = first.emplace(dfa_.next[s], s).first->second;
      CheckBelow(-1, 0, 0, letter, net_.first_context[s]);
    }
  }

  void CheckDelay(int level) const {
    LRNN_CHECK(net_.levels[level].delay || !net_.levels[level].tables.NeedsDelay(),
               "level {}: a reset needs the label before, and the level does not keep it", level);
  }

  // `context` of the level below is that of the case.
  void CheckBelow(int level, int from, int to, int letter, int context) {
    ++checks_;
    const std::vector<int>&before = proof_.sets[from], &after = proof_.sets[to];
    const bool leads = std::all_of(before.begin(), before.end(), [&](int q) {
      return std::binary_search(after.begin(), after.end(), dfa_.next[letter][q]);
    });
    LRNN_CHECK(leads, "{}: letter '{}' does not lead from set {} into set {}", Place(level), dfa_.letters[letter], from,
               to);
    if (level + 1 < levels_) {
      const auto& cases = context_of_[level + 1];
      const auto found = cases.find(Key(from, to, letter));
      LRNN_CHECK(found != cases.end(), "level {}: no case of the sets {} and {} and letter '{}'", level + 1, from, to,
                 dfa_.letters[letter]);
      LRNN_CHECK(found->second == context, "{}: letter '{}' leads to context {} instead of {}", Place(level),
                 dfa_.letters[letter], context, found->second);
      return;
    }
    LRNN_CHECK(before.size() == 1 && after.size() == 1, "below the last level set {} or {} is not of one state", from,
               to);
    LRNN_CHECK(after[0] == context, "{}: letter '{}' leads from state {} to state {} instead of {}", Place(level),
               dfa_.letters[letter], before[0], context, after[0]);
  }

  void CheckCase(int level, const CascadeProof::Case& c) {
    const CascadeTables& tables = net_.levels[level].tables;
    const std::vector<int>& action = tables.actions[tables.action_of[c.context]];
    const std::vector<int>& next = tables.next[c.context];
    const bool from_here = proof_.level_of[c.from] == level, to_here = proof_.level_of[c.to] == level;
    for (int label = 0; label < tables.labels; ++label) {
      // A set of a lower level says nothing about the label: every one may be there.
      const int from = from_here ? proof_.children[c.from][label] : c.from;
      if (from < 0) continue;
      const int to = to_here ? proof_.children[c.to][action[label]] : c.to;
      LRNN_CHECK(to >= 0, "level {}, context {}: label {} becomes {}, which names no child", level, c.context, label,
                 action[label]);
      LRNN_CHECK(next[label] >= 0, "level {}, context {}: no next context for label {}", level, c.context, label);
      CheckBelow(level, from, to, c.letter, next[label]);
    }
  }

  const AutomatonNetwork& net_;
  const Dfa& dfa_;
  const CascadeProof& proof_;
  int levels_;
  int64_t checks_ = 0;
  std::vector<std::unordered_map<uint64_t, int>> context_of_;  // [level]: of a case
};

}  // namespace

Certificate CertifyLocal(const AutomatonNetwork& network) {
  Certificate certificate;
  certificate.name = "C1 local";
  if (network.is_jit()) {
    certificate.checked =
        "the rule of jit levels, which is proved for every automaton; the transition table is complete";
    certificate.nodes = static_cast<int64_t>(network.dfa.num_states) * network.dfa.num_letters();
    certificate.holds = true;
    certificate.verdict = "the cascade follows the automaton on words of every length";
    return certificate;
  }
  LocalCheck check(network);
  try {
    check.Run();
    certificate.holds = true;
    certificate.verdict = "the cascade follows the automaton on words of every length";
  } catch (const Error& error) {
    certificate.verdict = error.what();
  }
  certificate.nodes = check.checks();
  size_t cases = 0;
  for (const auto& level : network.proof.cases) cases += level.size();
  certificate.checked = fmt::format("{} cases of {} levels over {} sets of states", cases, network.levels.size(),
                                    network.proof.sets.size());
  return certificate;
}

}  // namespace lrnn
