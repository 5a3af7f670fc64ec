#include "lrnn/compile/group_layers.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "lrnn/compile/layer_builder.h"

namespace lrnn {
namespace {

// Tables and proof; `label_of` numbers the elements, and label x stands for the state that it leads to.
GroupLevel Tables(const Dfa& dfa, const LetterGroup& group, const std::vector<int>& label_of) {
  GroupLevel built;
  CascadeTables& tables = built.level.tables;
  tables.labels = group.order();
  std::vector<int> state_of(group.order());
  for (int g = 0; g < group.order(); ++g) state_of[label_of[g]] = group.state_of[g];

  CascadeProof& proof = built.proof;
  proof.sets.push_back(std::vector<int>(dfa.num_states));
  std::iota(proof.sets[0].begin(), proof.sets[0].end(), 0);
  for (int q = 0; q < dfa.num_states; ++q) proof.sets.push_back({q});
  proof.level_of.assign(1 + dfa.num_states, -1);
  proof.level_of[0] = 0;
  proof.children.resize(1 + dfa.num_states);
  for (const int state : state_of) proof.children[0].push_back(1 + state);
  proof.cases.resize(1);

  for (int s = 0; s < dfa.num_letters(); ++s) {
    std::vector<int> action(group.order()), next(group.order());
    for (int g = 0; g < group.order(); ++g) {
      action[label_of[g]] = label_of[group.times[s][g]];
      next[label_of[g]] = group.state_of[group.times[s][g]];
    }
    tables.actions.push_back(std::move(action));
    tables.action_of.push_back(s);
    tables.next.push_back(std::move(next));
    built.first_context.push_back(s);
    proof.cases[0].push_back({0, 0, s, s});
  }
  return built;
}

}  // namespace

GroupLevel BuildPoints(const Dfa& dfa, const LetterGroup& group, const PointAction& action, KeyStyle keys) {
  GroupLevel built = Tables(dfa, group, IdentityPermutation(group.order()));
  AutomatonLevel& level = built.level;
  level.kind = LevelKind::kPoints;
  // Elements in the order in which letters reach them; content i moves with the letters.
  level.codes.resize(group.order());
  level.codes[0] = IdentityPermutation(action.points);
  std::vector<int> reached = {0};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (size_t s = 0; s < action.letters.size(); ++s) {
      const std::vector<int>& before = level.codes[reached[i]];
      std::vector<int>& after = level.codes[group.times[s][reached[i]]];
      if (!after.empty()) continue;
      reached.push_back(group.times[s][reached[i]]);
      after.resize(action.points);
      for (int point = 0; point < action.points; ++point) after[action.letters[s][point]] = before[point];
    }
  }
  const int copies = keys == KeyStyle::kDup ? 2 : 1;
  const FactorWriter writer(keys, copies, level.InitialContent(0));
  std::vector<FactorWriter::Factors> symbols;
  for (const Permutation& letter : action.letters) writer.Permute(letter, symbols.emplace_back());
  level.layers = {BuildLayer(action.points * copies, copies, symbols)};
  return built;
}

GroupLevel BuildRotation(const Dfa& dfa, const LetterGroup& group, const std::vector<int>& power_of) {
  GroupLevel built = Tables(dfa, group, power_of);
  built.level.kind = LevelKind::kRotation;
  std::vector<FactorWriter::Factors> symbols;
  for (const std::vector<int>& times : group.times) {
    FactorWriter::Factors& factors = symbols.emplace_back();
    if (times[0] == 0) continue;
    // R(angle) = Ref(angle / 2) Ref(0), of H_0 = (1, 0). beta = 2 / |k|^2 for the rounded k: then the first-order error
    // of the angle averages out, and only the length of H drifts, which is not read.
    const double half = std::numbers::pi * power_of[times[0]] / group.order();
    const float x = static_cast<float>(-std::sin(half)), y = static_cast<float>(std::cos(half));
    const double square = static_cast<double>(x) * x + static_cast<double>(y) * y;
    factors.push_back({{{{1, 1.0f}}}, 1, 2.0f, 0.0f});
    factors.push_back({{{{0, x}, {1, y}}}, 2, static_cast<float>(2.0 / square), -x});
  }
  built.level.layers = {BuildLayer(2, 1, symbols)};
  return built;
}

}  // namespace lrnn
