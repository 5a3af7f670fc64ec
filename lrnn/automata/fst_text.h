// Acceptors in the AT&T text format that OpenFst compiles and prints:
//
//   0 1 a        an arc: from, to, label       (a fourth column would be a weight: only 0 is accepted)
//   1 0 b
//   1            a final state
//
// The first state of the text is the start. Labels are the names of a symbol table, or numbers when there is none;
// label 0 reads nothing. A symbol table has lines `name number`, 0 being the empty label:
//
//   <eps> 0
//   a 1
//   b 2
//
//   fstcompile --acceptor --isymbols=letters.syms automaton.txt automaton.fst
//   fstprint   --acceptor --isymbols=letters.syms automaton.fst
//
// Letters with blanks in their names are written with the escapes of table.h.
#pragma once

#include <string>
#include <string_view>

#include "lrnn/automata/dfa.h"

namespace lrnn {

struct FstText {
  std::string arcs;
  std::string symbols;  // empty: labels are numbers
};

struct FstSources {  // names in messages
  std::string arcs = "fst";
  std::string symbols = "symbols";
};

// The deterministic complete automaton of the acceptor, not minimised, its letters in the order of their numbers: those
// of the symbol table, or those that occur. What is nondeterministic is determinised (at most max_states states), what
// has no arc leads to a sink.
Dfa ReadFst(const FstText& text, const FstSources& sources = {}, int max_states = 100'000);

// ReadFst gives Trim(dfa) back.
FstText WriteFst(const Dfa& dfa);

}  // namespace lrnn
