// The automaton that a trained model has learned.
//
// Hidden states are taken after long words of the task, and before the first letter. Two are in one cluster when the
// model, going on from them, answers the same now and after each of a few short suffixes: the cells into which the
// model's own decisions cut its state space. At first there is only the empty suffix; transitions are voted on by
// members of a cluster, each by where a letter takes it. When the members disagree, a letter and a suffix that tell
// them apart become a new suffix, and the cells get finer (Angluin's L*, with hidden states for prefixes and votes for
// queries). What is voted for, made minimal, is the learned automaton.
//
// A model whose state is noise has no such cells: then the number of clusters explodes, which is a Failure that says
// so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lrnn/automata/token_automaton.h"
#include "lrnn/runtime/model.h"
#include "lrnn/tasks/task.h"

namespace lrnn {

struct LearnOptions {
  LengthRange lengths{41, 80};   // letters of the words after which hidden states are taken
  int64_t words = 64;            // how many
  int64_t longest = 1280;        // letters of the longest words on which the clusters are then looked at
  int64_t voters = 32;           // members of a cluster that vote, each once for every letter; fewer of many letters
  double tolerated_share = 0.1;  // of votes against the majority: above it a cluster is split
  int64_t max_clusters = 1000;
  int64_t max_suffixes = 64;
  uint64_t seed = 0;
};

struct Votes {
  int64_t cast = 0;
  int64_t agreeing = 0;  // with the transition that was chosen
};

// How well the clusters are told apart after words of this many letters.
struct ClusterCheck {
  int64_t letters;
  double follows;      // share of words after which the model is in the cluster where the learned automaton says
  double right;        // share of right answers
  double probability;  // that the model gives to its own answer, on average
  double nearest;      // share of hidden states that are nearest to the centre of their own automaton state, where the
                       // centres are the means of the hidden states the automaton was read from
};

struct LearnedAutomaton {
  TokenAutomaton automaton;               // minimal; it accepts where the truth accepts with that answer
  std::vector<std::vector<Votes>> votes;  // [letter][state]
  int64_t clusters = 0;                   // before it was made minimal
  std::vector<std::vector<int>> suffixes;

  // A shortest word to which the learned automaton (first) and the truth (second) answer differently, and what the
  // model itself answers to it.
  std::optional<AnswerDifference> difference;
  int32_t model_answer = -1;

  std::vector<ClusterCheck> checks;  // by letters, each twice the one before
  int64_t blurred_at = 0;            // the first number of letters where less than 99 % follow; 0: none of them
};

// `truth` is over tokens of the model; its letters are what the task's examples are made of. The model says nothing of
// the empty word: there the learned automaton is given the right answer.
LearnedAutomaton LearnAutomaton(const RuntimeModel& model, const Task& task, const TokenAutomaton& truth,
                                const LearnOptions& options);

}  // namespace lrnn
