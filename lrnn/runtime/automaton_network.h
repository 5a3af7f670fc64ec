// A finite automaton as a network of DeltaProduct layers and decoder tables.
//
// The automaton is a cascade of levels. Each level holds a label, 0 before the first token. A letter s starts with the
// context c = first_context[s] and goes through the levels from the top:
//
//   label <- actions[action_of[c]][label],        c <- next[c][label before]
//
// The last context is the state of the automaton. An action is the identity, a permutation, or a reset to one label.
//
// A level keeps its label in the states S of one or two layers of width V = 1. A layer sees a symbol each token, whose
// n_h micro-steps are those of the delta rule (lrnn/kernels/delta_rule.h), from S = 0:
//
//   S <- S + beta k (v - k^T S),     S, k: [K]     transition I - beta k k^T, eigenvalue 1 - beta |k|^2
//
// What S holds is called H = S + H_0, where H_0 is what it must hold before the first token; the tables of v contain
// the difference. The next context is read from the layer's state *after* the token: the label before it is the
// inverse permutation of the label after it, or, where a reset has lost it, a second coordinate that a swap has filled
// with it (`delay`).
//
//   kind            layers       H                                      symbol
//   fixed           none         the label is always 0
//   slot            1            (label) or (label, label before)       the action
//   sign            1            (+1 or -1), or the two                 the action
//   one_hot         1            e_label                                the action
//   permuted_slot   2            c, a permutation of 0 .. labels-1:     the action; resets do nothing
//                                the label y at the start is now at the place where c holds y
//                                (y) or (y, y before)                   0: nothing, 1 + y: write y
//   joint           1            e_label, or (e_label, e_before)        the action
//   points          1            codes[label], a permutation of points  the action
//   rotation        1            the angle 2 pi label / labels          the action
//
// With keys `dup` a layer that swaps holds every coordinate twice (`copies`). Where no eigenvalue is negative the
// coordinate of the label before holds half of it: a swap is a reflection.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/automata/dfa.h"

namespace lrnn {

enum class LevelKind { kFixed, kSlot, kSign, kOneHot, kPermutedSlot, kJoint, kPoints, kRotation };
enum class KeyStyle {
  kExact,  // e_i - e_j with beta 1: the kernel must not normalise keys
  kDup,    // (e_i + e_i' - e_j - e_j') / 2 with beta 2: of norm 1, and dyadic
  kUnit,   // (e_i - e_j) / sqrt(2) with beta 2: of norm 1 but for rounding
};

std::string_view Name(LevelKind kind);
std::string_view Name(KeyStyle keys);
std::span<const std::string_view> LevelKindNames();  // in the order of the enums
std::span<const std::string_view> KeyStyleNames();

struct CascadeTables {
  int labels = 1;
  std::vector<std::vector<int>> actions;  // [action][label]: each the identity, a permutation or constant
  std::vector<int> action_of;             // [context]
  std::vector<std::vector<int>> next;     // [context][label before]: -1 where that label does not occur

  int contexts() const { return static_cast<int>(action_of.size()); }
  bool IsReset(int action) const;          // constant, for two or more labels
  bool NextIsConstant(int context) const;  // the label before does not matter
  bool NeedsDelay() const;                 // some reset with a next that depends on the label before
};

struct DeltaProductTable {
  int symbols = 0;
  int n_h = 0;
  int K = 0;
  int copies = 1;           // coordinate j of H is at rows j * copies .. (j + 1) * copies - 1 of S
  std::vector<float> k;     // [symbols, n_h, K]; steps that a symbol does not use have beta 0, k = e_0, v = 0
  std::vector<float> beta;  // [symbols, n_h]
  std::vector<float> v;     // [symbols, n_h]
};

struct AutomatonLevel {
  LevelKind kind = LevelKind::kFixed;
  CascadeTables tables;
  bool delay = false;
  std::vector<std::vector<int>> codes;  // of `points`: [label][point]
  std::vector<DeltaProductTable> layers;

  // H_0 of a layer, one number per coordinate.
  std::vector<float> InitialContent(int layer) const;
};

// What makes the cascade right, for all words, by checks of single entries (lrnn/compile/certify_local.h).
//
// A *set* of states stands behind each choice of labels from the top. The first is the set of all states; a set that
// belongs to a level has a child for each label that can occur there; the chain ends in the singleton of the current
// state. A *case* (from, to, letter) says: the chain of the state before the letter went through the set `from`, that
// of the state after goes through `to`.
struct CascadeProof {
  struct Case {
    int from, to;  // sets
    int letter;
    int context;  // of the level; below the last level: the state
  };
  std::vector<std::vector<int>> sets;      // [set]: its states, in increasing order
  std::vector<int> level_of;               // [set]: the level that its child is named at, -1 for none
  std::vector<std::vector<int>> children;  // [set][label]: -1 where the label does not occur
  std::vector<std::vector<Case>> cases;    // [level]
};

struct AutomatonNetwork {
  Dfa dfa;
  std::string mode;  // how it was made: relax, sub, height, group, rotation, jit
  KeyStyle keys = KeyStyle::kExact;
  bool negative_eigenvalues = true;
  bool outputs_states = false;     // what a user is told after each token: the state, or whether it accepts
  std::vector<int> first_context;  // [letter]
  std::vector<AutomatonLevel> levels;
  CascadeProof proof;

  // `jit`: no tables; the rule of lrnn/runtime/jit_stepper.h takes their place.
  bool is_jit() const { return mode == "jit"; }
};

// Throws an Error that starts with `source` and names what is wrong: a table of the wrong size, an entry out of range,
// a kind that cannot do its actions. Says nothing about whether the network does what the automaton does.
void Validate(const AutomatonNetwork& network, std::string_view source);

}  // namespace lrnn
