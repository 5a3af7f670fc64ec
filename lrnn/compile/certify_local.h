// C1: the tables of a cascade do what the automaton does, for words of every length, by induction over the word.
//
// The induction step is checked on the proof that the network carries (CascadeProof): for every case (P, P', s) of a
// level and every label that the level can hold when the chain goes through P, the label after names a child of P' (if
// P' belongs to the level), the letter leads from the child of P into the child of P', and the next context is the one
// of the case of these two at the level below; below the last level the case is ({q}, {q'}, s) with q' = s(q), and the
// context is q'. The number of checks grows with the tables alone, never with the length of words.
#pragma once

#include "lrnn/compile/certificate.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

// The network is valid; its proof may be anything.
Certificate CertifyLocal(const AutomatonNetwork& network);

}  // namespace lrnn
