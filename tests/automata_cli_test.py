#!/usr/bin/env python3
"""lrnn compile, certify and run on automata, from end to end:  automata_cli_test.py PROGRAM"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LRNN = None


class AutomataCli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def lrnn(self, *arguments, code=0):
        done = subprocess.run([LRNN, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_a_regular_expression_becomes_a_proved_model(self):
        printed = self.lrnn("compile", "--regex", "(ab)*", "-o", "m")
        self.assertIn("automaton   3 states, 2 letters", printed)
        self.assertIn("proved: equal to the automaton on words of every length", printed)
        self.assertIn("proved:", self.lrnn("certify", "m"))
        self.assertEqual(self.lrnn("run", "m", "abab", "abba"),
                         "reject accept reject accept\nreject accept reject reject\n")

    def test_json(self):
        compiled = json.loads(self.lrnn("compile", "--regex", "(0|10*1)*", "-o", "m", "--json"))
        self.assertEqual(compiled["network"]["states"], 2)
        self.assertIn("fp32", compiled["proved_formats"])
        certified = json.loads(self.lrnn("certify", "m", "--json"))
        self.assertTrue(all(one["holds"] for one in certified["certificates"]))
        line = json.loads(self.lrnn("run", "m", "--json", "101"))
        self.assertEqual(line["predictions"], ["reject", "reject", "accept"])
        self.assertTrue(line["accepting"])

    def test_letters_that_do_nothing(self):
        self.lrnn("compile", "--regex", "a*", "-o", "m")
        self.assertEqual(self.lrnn("run", "m", "aa"), "accept accept\n")

    def test_groups_answer_with_their_element(self):
        self.lrnn("compile", "--group", "Z3", "-o", "z3")
        letter = json.loads((self.folder / "z3/config.json").read_text())["lrnn"]["symbols"][0]
        states = self.lrnn("run", "z3", letter).split()
        self.assertEqual(len(states), 1)
        self.assertNotEqual(states, ["0"])

    def test_certify_compares_with_a_table(self):
        self.lrnn("compile", "--regex", "(0|10*1)*", "-o", "m")
        table = "letters 0 1\nstart e\naccept e\ne: e o\no: o e\n"
        (self.folder / "even.dfa").write_text(table)
        self.lrnn("certify", "m", "--dfa", "even.dfa")
        (self.folder / "odd.dfa").write_text(table.replace("accept e", "accept o"))
        self.assertIn("they differ on the word ''", self.lrnn("certify", "m", "--dfa", "odd.dfa", code=1))

    def test_bad_input(self):
        self.assertIn("expected ')'", self.lrnn("compile", "--regex", "(ab", "-o", "m", code=2))
        self.assertIn("--eigenvalues", self.lrnn("compile", "--regex", "a", "-o", "m", "--eigenvalues", "[0,2]", code=2))
        parity = ("compile", "--regex", "(0|10*1)*", "-o", "m", "--eigenvalues", "[0,1]")
        self.lrnn(*parity, code=2)
        (self.folder / "incomplete.dfa").write_text("letters 0 1\nstart e\naccept e\ne: e\n")
        self.assertIn("incomplete.dfa:4:", self.lrnn("compile", "--dfa", "incomplete.dfa", "-o", "m", code=2))
        self.assertFalse((self.folder / "m").exists())
        self.lrnn("compile", "--regex", "a", "-o", "m")
        self.assertIn("exists already", self.lrnn("compile", "--regex", "b", "-o", "m", code=2))
        self.lrnn("compile", "--regex", "b", "-o", "m", "--overwrite")


if __name__ == "__main__":
    LRNN = sys.argv.pop(1)
    unittest.main()
