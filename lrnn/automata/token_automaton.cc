#include "lrnn/automata/token_automaton.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lrnn/automata/minimise.h"
#include "lrnn/automata/operations.h"

namespace lrnn {
namespace {

// The automaton of all pairs (word, its answer): each token of `answers` is one more letter, after which the word is
// accepted if that is the answer, rejected if not, and rejected whatever follows. Different answers become different
// languages, so that what is known of languages serves for answers too. The two further states come last.
Dfa AnswerLanguage(const TokenAutomaton& automaton, const std::set<int32_t>& answers) {
  Dfa dfa = automaton.dfa;
  const int right = dfa.num_states, wrong = right + 1;
  for (std::vector<int>& row : dfa.next) row.insert(row.end(), {wrong, wrong});
  for (const int32_t answer : answers) {
    dfa.letters.push_back(fmt::format("answer\n{}", answer));  // no letter has a line break in its name and a number
    std::vector<int>& row = dfa.next.emplace_back(dfa.num_states + 2, wrong);
    for (int state = 0; state < dfa.num_states; ++state) {
      if (automaton.answers[state] == answer) row[state] = right;
    }
  }
  dfa.num_states += 2;
  dfa.accepting.assign(dfa.num_states, false);
  dfa.accepting[right] = true;
  return dfa;
}

std::set<int32_t> AnswersOf(const TokenAutomaton& a, const TokenAutomaton& b) {
  std::set<int32_t> answers(a.answers.begin(), a.answers.end());
  answers.insert(b.answers.begin(), b.answers.end());
  return answers;
}

}  // namespace

MinimalAnswers MinimiseAnswers(const TokenAutomaton& automaton) {
  const Dfa& old = automaton.dfa;
  const Dfa minimal = Minimise(AnswerLanguage(automaton, AnswersOf(automaton, automaton)));

  // Walk through both from the start. The states after an answer are left out of the result, which is renumbered in the
  // order of the walk.
  MinimalAnswers result{{{0, old.letters, {}, 0, {}}, automaton.opening, automaton.tokens, {}},
                        std::vector<int>(old.num_states, -1)};
  std::vector<int> minimal_of(old.num_states, -1), number(minimal.num_states, -1);
  std::vector<int> walk{old.start};
  minimal_of[old.start] = minimal.start;
  Dfa& dfa = result.automaton.dfa;
  for (size_t i = 0; i < walk.size(); ++i) {
    const int state = walk[i];
    int& at = number[minimal_of[state]];
    if (at < 0) {
      at = dfa.num_states++;
      dfa.accepting.push_back(old.accepting[state]);
      result.automaton.answers.push_back(automaton.answers[state]);
    }
    result.state_of[state] = at;
    for (int letter = 0; letter < old.num_letters(); ++letter) {
      const int next = old.next[letter][state];
      if (minimal_of[next] >= 0) continue;
      minimal_of[next] = minimal.next[letter][minimal_of[state]];
      walk.push_back(next);
    }
  }
  for (int letter = 0; letter < old.num_letters(); ++letter) {
    std::vector<int>& row = dfa.next.emplace_back(dfa.num_states);
    for (const int state : walk) row[result.state_of[state]] = result.state_of[old.next[letter][state]];
  }
  return result;
}

std::optional<AnswerDifference> CompareAnswers(const TokenAutomaton& first, const TokenAutomaton& second) {
  const std::set<int32_t> answers = AnswersOf(first, second);
  const Dfa a = AnswerLanguage(first, answers), b = AnswerLanguage(second, answers);
  auto word = Counterexample(a, b);
  if (!word) return std::nullopt;
  word->pop_back();  // the letter that stands for an answer
  std::vector<int> in_second;
  for (const int letter : *word) {
    const auto& letters = second.dfa.letters;
    in_second.push_back(
        static_cast<int>(std::find(letters.begin(), letters.end(), first.dfa.letters[letter]) - letters.begin()));
  }
  return AnswerDifference{*word, first.answers[first.dfa.Run(*word)], second.answers[second.dfa.Run(in_second)]};
}

}  // namespace lrnn
