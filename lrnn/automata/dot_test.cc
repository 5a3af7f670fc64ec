#include "lrnn/automata/dot.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

TEST(Dot, DrawsStatesAndMergesParallelArrows) {
  const Dfa dfa{2, {"a", "b", "c"}, {{1, 1}, {0, 0}, {1, 0}}, 1, {true, false}};
  EXPECT_EQ(ToDot(dfa, "two"),
            "digraph \"two\" {\n"
            "  rankdir=LR;\n"
            "  node [shape=circle];\n"
            "  start [shape=point, style=invis];\n"
            "  0 [shape=doublecircle];\n"
            "  1;\n"
            "  start -> 1;\n"
            "  0 -> 0 [label=\"b\"];\n"
            "  0 -> 1 [label=\"a, c\"];\n"
            "  1 -> 0 [label=\"b, c\"];\n"
            "  1 -> 1 [label=\"a\"];\n"
            "}\n");
}

TEST(Dot, EscapesLetters) {
  const Dfa dfa{1, {"\"", "\\", "\n", " ", "é"}, {{0}, {0}, {0}, {0}, {0}}, 0, {true}};
  EXPECT_NE(ToDot(dfa, "a\"b").find("digraph \"a\\\"b\" {"), std::string::npos);
  EXPECT_NE(ToDot(dfa).find("[label=\"\\\", \\\\, \\\\x0a, ␣, é\"]"), std::string::npos) << ToDot(dfa);
}

}  // namespace
}  // namespace lrnn
