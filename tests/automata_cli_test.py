#!/usr/bin/env python3
"""lrnn compile, certify and run on automata, from end to end:  automata_cli_test.py PROGRAM"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

LRNN = None


def cpu_seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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
        self.assertLess(compiled["seconds"]["compile"], 1)
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

    def test_star_free_languages_need_no_negative_eigenvalues(self):
        printed = self.lrnn("compile", "--regex", "(ab)*", "--range", "0,1", "-o", "m")
        self.assertIn("eigenvalues in [0,1]", printed)
        self.assertIn("proved: equal to the automaton", printed)
        self.assertEqual(self.lrnn("run", "m", "abab", "aba"), "reject accept reject accept\nreject accept reject\n")
        refused = self.lrnn("compile", "--regex", "(aa)*", "--range", "0,1", "-o", "m2", code=2)
        self.assertEqual(refused, "lrnn: eigenvalues in [0, 1] cannot do this: the word 'a' takes state 0 to 1 to 0, so the "
                         "language is not star-free; it takes eigenvalues in [-1, 1]\n")
        self.assertFalse((self.folder / "m2").exists())

    def test_tables_are_minimised(self):
        (self.folder / "twice.dfa").write_text("letters a\nstart p\naccept p q\np: q\nq: p\n")
        self.assertIn("automaton   1 states", self.lrnn("compile", "--dfa", "twice.dfa", "--range", "0,1", "-o", "m"))

    def test_letters_that_do_nothing_take_no_arithmetic(self):
        self.assertIn("no rounding: there is nothing to compute", self.lrnn("compile", "--regex", "a*", "-o", "m"))

    def test_factors(self):
        (self.folder / "turn.txt").write_text("# a quarter turn\n0 -1\n1 0\n")
        printed = self.lrnn("factor", "turn.txt", "--out", "turn.json")
        self.assertIn("matrix      2 x 2, orthogonal, norm 1\n", printed)
        self.assertIn("factors     2: no fewer will do", printed)
        self.assertIn("eigenvalues 0+1i  0-1i", printed)
        written = json.loads((self.folder / "turn.json").read_text())
        self.assertEqual(written["format"], "lrnn.factors")
        product = [[1, 0], [0, 1]]
        for factor in reversed(written["factors"]):
            k, beta = factor["k"], factor["beta"]
            row = [sum(k[i] * product[i][j] for i in range(2)) for j in range(2)]
            product = [[product[i][j] - beta * k[i] * row[j] for j in range(2)] for i in range(2)]
        for made, wanted in zip(sum(product, []), [0, -1, 1, 0]):
            self.assertAlmostEqual(made, wanted, places=12)
        (self.folder / "half.csv").write_text("0.5,0\n0.3,0.1\n")
        half = json.loads(self.lrnn("factor", "half.csv", "--json"))
        self.assertFalse(half["orthogonal"])
        self.assertLess(half["residual"], 1e-12)

    def test_matrices_that_are_refused(self):
        for text, message in [("1 1\n0 1\n", "expected a contraction, got a matrix of norm 1.618"),
                              ("1 0\n", "expected a square matrix, got 1 rows and 2 columns"),
                              ("1 nan\n0 1\n", "m.txt:1:3: expected a finite number, got 'nan'"),
                              ("", "expected rows of numbers, got none"),
                              ("1 0\n0\n", "m.txt:2:1: this row has 1 numbers, the first has 2")]:
            (self.folder / "m.txt").write_text(text)
            self.assertIn(message, self.lrnn("factor", "m.txt", code=2))
        self.assertIn("no.txt", self.lrnn("factor", "no.txt", code=2))

    def test_theorems(self):
        self.lrnn("compile", "--regex", "(aa)*", "-o", "even")
        self.lrnn("compile", "--regex", "(ab)*", "--range", "0,1", "-o", "ab")
        self.assertIn("verdict     possible", self.lrnn("theory", "parity", "even"))
        self.assertIn("verdict     impossible", self.lrnn("theory", "modcount", "even"))
        self.assertIn("verdict     impossible", self.lrnn("theory", "parity", "ab"))
        self.assertIn("for ever", self.lrnn("theory", "horizon", "even"))
        periods = json.loads(self.lrnn("theory", "period", "even", "--json"))["words"]
        self.assertEqual([one["period"] for one in periods[0]["results"]], [2, 2, 2, 2])
        word = json.loads(self.lrnn("theory", "period", "ab", "--word", "ab", "--json"))["words"]
        self.assertEqual([one["period"] for one in word[0]["results"]], [1, 1, 1, 1])

    def test_theorems_on_matrices(self):
        # One reflection each: parity below, the swaps of three points in turn above. It counts modulo 6.
        (self.folder / "six.txt").write_text("layer\ninput t\n-1\nlayer\ninput odd\n0 1 0\n1 0 0\n0 0 1\n"
                                             "input even\n1 0 0\n0 0 1\n0 1 0\n")
        six = self.lrnn("theory", "modcount", "--matrices", "six.txt")
        self.assertIn("verdict     possible", six)
        self.assertIn("layer 2, inputs odd, even: the product has the eigenvalue -0.5+0.866025i", six)
        (self.folder / "close.txt").write_text("-0.999\n")
        close = self.lrnn("theory", "parity", "--matrices", "close.txt")
        self.assertIn("verdict     impossible", close)
        self.assertIn("the largest is -0.999", close)
        self.assertIn(" 16627 ", self.lrnn("theory", "horizon", "--matrices", "close.txt"))
        self.assertIn("period", self.lrnn("theory", "period", "--matrices", "close.txt"))
        self.assertIn("one of them", self.lrnn("theory", "parity", code=2))
        (self.folder / "bad.txt").write_text("input a\n1 0\n")
        self.assertIn("expected a square matrix", self.lrnn("theory", "parity", "--matrices", "bad.txt", code=2))

    def test_drift(self):
        rows = json.loads(self.lrnn("theory", "drift", "--tokens", "500", "--json"))
        self.assertTrue(all(row["error"] == 0 for row in rows if "exact" in row["representation"]))
        self.assertIn("Z_60 rotation", self.lrnn("theory", "drift", "--tokens", "100"))

    def test_large_and_empty_expressions(self):
        million = 1000 * 1000
        for text in ["a" * 10 * million, "(" * 10 * million, "(a|b)*a" + "(a|b)" * 2 * million, "a|" * 5 * million,
                     "[" + "a" * 10 * million, "\\" * 10 * million, "a{1000}" * million, "é" * 5 * million]:
            (self.folder / "large.txt").write_text(text)
            before = cpu_seconds_of_children()
            message = self.lrnn("compile", "--regex-file", "large.txt", "-o", "m", code=2)
            # Anything quadratic would take hours. Processor time: what else the machine does is not counted.
            self.assertLess(cpu_seconds_of_children() - before, 5)
            self.assertLess(len(message), 600)
            self.assertIn("large.txt", message)
        self.assertIn("letter", self.lrnn("compile", "--regex", "", "-o", "m", code=2))
        (self.folder / "empty.dfa").write_text("letters\nstart p\naccept p\np:\n")
        self.assertIn("empty.dfa:1:", self.lrnn("compile", "--dfa", "empty.dfa", "-o", "m", code=2))
        (self.folder / "nothing.dfa").write_text("")
        self.assertIn("nothing.dfa:", self.lrnn("compile", "--dfa", "nothing.dfa", "-o", "m", code=2))

    def test_bad_input(self):
        self.assertIn("expected ')'", self.lrnn("compile", "--regex", "(ab", "-o", "m", code=2))
        self.assertIn("--range: expected", self.lrnn("compile", "--regex", "a", "-o", "m", "--range", "0,2", code=2))
        (self.folder / "incomplete.dfa").write_text("letters 0 1\nstart e\naccept e\ne: e\n")
        self.assertIn("incomplete.dfa:4:", self.lrnn("compile", "--dfa", "incomplete.dfa", "-o", "m", code=2))
        self.assertFalse((self.folder / "m").exists())
        self.lrnn("compile", "--regex", "a", "-o", "m")
        self.assertIn("exists already", self.lrnn("compile", "--regex", "b", "-o", "m", code=2))
        self.lrnn("compile", "--regex", "b", "-o", "m", "--overwrite")


if __name__ == "__main__":
    LRNN = sys.argv.pop(1)
    unittest.main()
