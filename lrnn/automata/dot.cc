#include "lrnn/automata/dot.h"

#include <fmt/format.h>

#include <map>

namespace lrnn {
namespace {

// For a quoted string of the dot language. There \ is special in labels, and control characters would break the line.
std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (c >= 0 && (c < 0x20 || c == 0x7F)) {
      escaped += fmt::format("\\\\x{:02x}", c);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string ToDot(const Dfa& dfa, std::string_view name) {
  std::string dot = fmt::format(
      "digraph \"{}\" {{\n"
      "  rankdir=LR;\n"
      "  node [shape=circle];\n"
      "  start [shape=point, style=invis];\n",
      Escape(name));
  for (int q = 0; q < dfa.num_states; ++q) {
    dot += fmt::format("  {}{};\n", q, dfa.accepting[q] ? " [shape=doublecircle]" : "");
  }
  dot += fmt::format("  start -> {};\n", dfa.start);
  for (int q = 0; q < dfa.num_states; ++q) {
    std::map<int, std::string> labels;  // by the state they lead to
    for (int letter = 0; letter < dfa.num_letters(); ++letter) {
      std::string& label = labels[dfa.next[letter][q]];
      if (!label.empty()) label += ", ";
      label += dfa.letters[letter] == " " ? "\xE2\x90\xA3" : Escape(dfa.letters[letter]);  // a space as an open box
    }
    for (const auto& [to, label] : labels) dot += fmt::format("  {} -> {} [label=\"{}\"];\n", q, to, label);
  }
  return dot + "}\n";
}

}  // namespace lrnn
