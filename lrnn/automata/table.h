// Transition tables as text, made to be written by hand:
//
//   # An even number of 1s.
//   dfa 1                    # the version of the format; may be left out
//   letters 0    1
//   start   even
//   accept  even             # none, one or several states
//
//   even:   even odd         # one line per state: where each letter leads, in the order of `letters`
//   odd:    odd  even
//
// Words are separated by blanks; # at the start of a word begins a comment. States are numbered in the order of their
// lines; their names are not kept. In a word \s is a space, \n \t \r \f \v the other blanks, \xHH a byte, and \ before
// # : \ that character.
#pragma once

#include <string>
#include <string_view>

#include "lrnn/automata/dfa.h"

namespace lrnn {

// `source` is the name of the text in messages: <source>:<line>:<column>: ... with the line and a caret. An incomplete
// table, an unknown or repeated name and an unknown line are Errors.
Dfa ReadTable(std::string_view text, std::string_view source);

// States are called q0, q1, ... ReadTable gives the same automaton back.
std::string WriteTable(const Dfa& dfa);

}  // namespace lrnn
