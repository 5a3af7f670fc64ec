#!/usr/bin/env python3
"""lrnn eval and lrnn analyze from end to end, on small models that have hardly been trained:  evaluation_cli_test.py PROGRAM"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LRNN = ""

CONFIG = """[task]
{task}
train_lengths = [3, 10]
eval_lengths = [10, 20]
[model]
layer = "{layer}"
{eigenvalues}
hidden_size = 16
num_hidden_layers = 1
[train]
steps = 2
batch_size = 4
learning_rate = 3e-3
eval_sequences = 8
checkpoint_every = 5
"""

PARITY = 'name = "parity"'
GROUP = 'name = "group"\ngroup = "S3"'
ARITHMETIC = 'name = "modular_arithmetic"'


def lrnn(*arguments):
    return subprocess.run([LRNN, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class EvaluationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="lrnn-evaluation-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.dir = pathlib.Path(cls.scratch.name)

    def run_of(self, name, task, layer="delta_net", eigenvalues='eigenvalues = "[-1,1]"'):
        """A run of this name, trained once for all tests."""
        run = self.dir / name
        if not run.exists():
            config = self.dir / f"{name}.toml"
            config.write_text(CONFIG.format(task=task, layer=layer, eigenvalues=eigenvalues))
            self.check(lrnn("train", config, "--out", run, "--quiet"))
        return run

    def check(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def refused(self, message, *arguments):
        result = lrnn(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn(message, result.stderr)
        self.assertTrue(result.stderr.startswith("lrnn: "), result.stderr)

    def evals(self, run):
        return json.loads((run / "eval.json").read_text())

    def test_sequences_count_as_right_by_their_prefixes(self):
        run = self.run_of("group", GROUP)
        text = self.check(lrnn("eval", run, "--lengths", 30, "--sequences", 40))
        self.assertIn("group, lengths 30:30: sequence accuracy 0.", text)
        self.assertRegex(text, r"length\s+sequence accuracy\s+sequences\n\s+1 ")
        result = self.evals(run)["evaluations"][-1]
        self.assertEqual(result["score"], "sequence")
        self.assertEqual(result["by_length"][0]["sequences"], 40)
        self.assertEqual(result["by_length"][0]["targets"], 40 * 31, "<bos> has a target too")
        curve = [point["correct"] for point in result["by_position"]]
        self.assertEqual([point["length"] for point in result["by_position"]], list(range(1, 31)))
        self.assertEqual(curve, sorted(curve, reverse=True), "it never rises")
        self.assertEqual(curve[-1], result["by_length"][0]["correct"])
        self.check(lrnn("report", run, "-o", self.dir / "group.html"))

    def test_other_tasks_and_parameters_are_kept_apart(self):
        run = self.run_of("others", GROUP)
        self.check(lrnn("eval", run, "--sequences", 8))
        self.check(lrnn("eval", run, "--set", "inputs=generators", "--sequences", 8))
        self.check(lrnn("eval", run, "--task", "parity", "--sequences", 8))
        self.check(lrnn("eval", run, "--task", "group", "--set", "group=S3", "--sequences", 16))
        found = self.evals(run)
        self.assertEqual(found["task"], "group")
        self.assertEqual(found["parameters"]["group"], "S3")
        self.assertEqual([e["sequences"] for e in found["evaluations"]], [16], "the same task, said in words")
        others = [(other["task"], other["parameters"].get("inputs")) for other in found["other_tasks"]]
        self.assertEqual(others, [("group", "generators"), ("parity", None)])
        self.check(lrnn("report", run, "-o", self.dir / "others.html"))

    def test_bf16(self):
        run = self.run_of("bf16", PARITY)
        self.check(lrnn("eval", run, "--sequences", 8))
        self.assertIn(", bf16)", self.check(lrnn("eval", run, "--sequences", 8, "--precision", "bf16")))
        found = self.evals(run)
        single, rounded = found["evaluations"][0], found["evaluations_bf16"][0]
        self.assertNotEqual(single["loss"], rounded["loss"])
        self.assertAlmostEqual(single["loss"], rounded["loss"], delta=0.05)

    def test_horizon(self):
        run = self.run_of("horizon", PARITY)
        text = self.check(lrnn("eval", run, "--horizon", "--max-length", 3000, "--streams", 4))
        self.assertIn("parity: accuracy", text)
        self.assertRegex(text, r"length\s+accuracy\n")
        horizon = self.evals(run)["horizon"]
        self.assertTrue(horizon["every_position"])
        self.assertEqual((horizon["streams"], horizon["from"], horizon["max_length"]), (4, 3, 3000))
        self.assertLess(horizon["length"], 3000, "two steps of training do not solve parity")
        self.assertGreater(len(horizon["checkpoints"]), 0)
        printed = json.loads(self.check(lrnn("eval", run, "--horizon", "--max-length", 3000, "--streams", 4, "--json")))
        self.assertEqual(printed["checkpoints"], horizon["checkpoints"])
        one = self.run_of("arithmetic", ARITHMETIC)
        self.check(lrnn("eval", one, "--horizon", "--max-length", 100, "--streams", 4))
        self.assertFalse(self.evals(one)["horizon"]["every_position"])

    def test_analyze(self):
        run = self.run_of("analyze", PARITY)
        text = self.check(lrnn("analyze", run, "--max-length", 100))
        for words in ("declared range [-1,1]", "share below 0", "letter", "states of parity kept apart", "predicted failure: ",
                      "measured horizon:  not measured yet"):
            self.assertIn(words, text)
        found = json.loads((run / "analysis.json").read_text())
        self.assertEqual(found["format"], "lrnn.analysis")
        self.assertEqual([letter["letter"] for letter in found["spectrum"]["layers"][0]["letters"]], ["0", "1"])
        self.assertEqual(len(found["spectrum"]["layers"][0]["heads"]), 4)
        self.assertEqual(found["separation"]["reference_length"], 10)
        self.assertEqual(found["separation"]["layers"][0]["points"][-1]["length"], 100)
        self.check(lrnn("eval", run, "--horizon", "--max-length", 500, "--streams", 4))
        self.assertRegex(self.check(lrnn("analyze", run, "--max-length", 100)), r"measured horizon:  (length \d+|below 0.99 from)")
        # Of another task nothing is kept.
        before = (run / "analysis.json").read_text()
        self.check(lrnn("analyze", run, "--task", "even_pairs", "--max-length", 100))
        self.assertEqual((run / "analysis.json").read_text(), before)
        only = self.check(lrnn("analyze", run, "--spectrum"))
        self.assertNotIn("kept apart", only)

    def test_analyze_says_what_there_is_not(self):
        run = self.run_of("arithmetic", ARITHMETIC)
        self.assertIn("no separation of states: [separation] expected a task with an automaton behind it", self.check(lrnn("analyze", run)))
        if re.search(r"^lstm\b", self.check(lrnn("layers")), re.MULTILINE):
            run = self.run_of("lstm", PARITY, layer="lstm", eigenvalues="")
            text = self.check(lrnn("analyze", run, "--max-length", 60))
            self.assertIn("layer 0 has no eigenvalues: it is not a linear RNN", text)
            self.assertIn("states of parity kept apart", text)
            self.assertFalse((run / "spectrum.json").exists())

    def test_bad_input(self):
        run = self.run_of("bad", PARITY)
        self.refused('task "parity": unknown parameter "group" (it takes none)', "eval", run, "--set", "group=S5")
        self.refused('--set: expected PARAMETER=VALUE, got "S5"', "eval", run, "--task", "group", "--set", "S5")
        self.refused('task "regex": parameter "regex" is missing', "eval", run, "--task", "regex")
        self.refused("expected a model with the 127 tokens of task group, got 3", "eval", run, "--task", "group")
        self.refused("expected a model with the 127 tokens of task group, got 3", "eval", run, "--task", "group", "--horizon")
        self.refused('--precision: expected fp32 or bf16, got "fp8"', "eval", run, "--precision", "fp8")
        self.refused('--precision: expected fp32 or bf16, got "fp8"', "eval", run, "--precision", "fp8", "--horizon")
        self.refused("expected lengths from 2 on for task parity, got 1:5", "eval", run, "--lengths", "1:5")
        self.refused("expected lengths from 2 on for task parity, got 3:2", "eval", run, "--horizon", "--max-length", 2)
        self.refused("--max-length", "eval", run, "--max-length", 50)
        self.refused("--streams", "eval", run, "--streams", 5)
        self.refused("--streams", "eval", run, "--horizon", "--streams", 0)
        self.refused("--horizon", "eval", run, "--horizon", "--lengths", 50)
        self.refused("--max-length: expected at least 10, the reference length, got 9", "analyze", run, "--max-length", 9)
        self.refused('unknown parameter "group"', "analyze", run, "--set", "group=S5")


if __name__ == "__main__":
    LRNN = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
