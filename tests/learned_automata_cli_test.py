#!/usr/bin/env python3
"""lrnn analyze --automaton and --snap, lrnn certify on trained models, from end to end:  learned_automata_cli_test.py PROGRAM"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LRNN = None

# Trained on parity up to length 20, eigenvalues 0.988 and -0.9998: `lrnn train config.toml` in that directory made it.
TRAINED = pathlib.Path(__file__).parent / "testdata/parity_run"
CHECKPOINT = "checkpoints/step-00000400"


def zero_tensor(path, name):
    """With b_proj zero, beta is 1 for every letter: a letter forgets what its key has seen before."""
    data = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    begin, end = json.loads(data[8:start])[name]["data_offsets"]
    data[start + begin:start + end] = bytes(end - begin)
    path.write_bytes(data)


def run(*arguments):
    return subprocess.run([LRNN, *map(str, arguments)], capture_output=True, text=True, timeout=120)


class LearnedAutomata(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="lrnn-learned-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.trained = cls.folder / "trained"
        shutil.copytree(TRAINED, cls.trained)
        cls.faulty = cls.folder / "faulty"
        shutil.copytree(TRAINED, cls.faulty)
        zero_tensor(cls.faulty / CHECKPOINT / "model.safetensors", "model.layers.0.attn.b_proj.weight")

    def lrnn(self, *arguments, code=0):
        done = run(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_the_learned_automaton_is_parity(self):
        printed = self.lrnn("analyze", self.trained, "--automaton")
        self.assertIn("read after 32 words of 21:40 letters", printed)
        self.assertIn("equal to the automaton of the task (2 states)", printed)
        self.assertIn("nearest centre", printed)
        kept = json.loads((self.trained / "automaton.json").read_text())
        self.assertTrue(kept["equal_to_task"])
        self.assertEqual([check["letters"] for check in kept["checks"]], [40, 80, 160, 320, 640])
        self.assertIn("digraph", (self.trained / "automaton.dot").read_text())
        # The table is of the format that compile reads: the automaton becomes weights again, exact ones.
        compiled = self.folder / "compiled"
        self.lrnn("compile", "--dfa", self.trained / "automaton.dfa", "-o", compiled)
        self.assertEqual(self.lrnn("run", compiled, "1011"), "accept accept reject accept\n")

    def test_json_and_lengths(self):
        result = json.loads(self.lrnn("analyze", self.trained, "--automaton", "--json", "--lengths", "5:8", "--sequences", 16))
        self.assertEqual(len(result["states"]), 2)
        self.assertEqual(result["checks"][-1]["letters"], 128)
        for state in result["states"]:
            self.assertEqual(state["votes"], state["agreeing"])

    def test_a_model_that_learned_something_else(self):
        printed = self.lrnn("analyze", self.faulty, "--automaton")
        self.assertIn("not the automaton of the task: they differ on the word", printed)
        self.assertIn("the model itself", printed)

    def test_certify_a_trained_model(self):
        message = self.lrnn("certify", self.trained, "--nodes", 500, code=1)
        self.assertRegex(message, r"not proved: right on all words up to \d+ letters, nothing is known of longer ones")
        result = json.loads(run("certify", self.trained, "--nodes", 500, "--json").stdout)
        self.assertFalse(result["proved"])
        self.assertGreater(result["words_up_to"], 5)
        self.assertGreater(result["smallest_margin"], 0)
        message = self.lrnn("certify", self.faulty, code=1)
        self.assertRegex(message, r"wrong on the word '[01 ]+' \(\d+ letters\): the answer is .*, right is [01]")

    def test_certify_against_another_language(self):
        table = self.folder / "ones.dfa"
        table.write_text("letters 0 1\nstart a\naccept a\na: b a\nb: b b\n")
        message = self.lrnn("certify", self.trained, "--dfa", table, code=1)
        self.assertIn("wrong on the word '0 1' (2 letters): the answer is 1, right is 0", message)
        self.assertIn("not proved: right on all words",
                      self.lrnn("certify", self.trained, "--regex", "0*10*(10*10*)*", "--nodes", 300, code=1))

    def test_snap_proves_parity(self):
        out = self.folder / "exact"
        printed = self.lrnn("analyze", self.trained, "--snap", "-o", out)
        self.assertIn("letters before the first wrong answer", printed)
        self.assertIn("proved: right on words of every length", printed)
        self.assertIn("proved: right on words of every length", self.lrnn("certify", out))
        self.assertEqual(self.lrnn("run", out, "1011"), "1 1 0 1\n")
        self.assertIn("exists already", self.lrnn("analyze", self.trained, "--snap", "-o", out, code=2))
        result = json.loads(self.lrnn("analyze", self.trained, "--snap", "--json"))
        self.assertTrue(result["proved"])
        self.assertEqual(result["right_letters_after"], result["right_letters_limit"])
        self.assertTrue((self.trained / "snapped/model.safetensors").exists())
        self.assertTrue(any(not head["off"] for head in result["heads"]))

    def test_bad_input(self):
        self.assertIn("--snap", self.lrnn("analyze", self.trained, "--automaton", "--snap", code=2))
        self.assertIn("there is no automaton that gives its answers",
                      self.lrnn("analyze", self.trained, "--automaton", "--task", "stack_manipulation", code=2))
        table = self.folder / "letters.dfa"
        table.write_text("letters a b\nstart q\naccept q\nq: q q\n")
        self.assertIn("the letter a is no symbol of the model (it has: <pad> 0 1)",
                      self.lrnn("certify", self.trained, "--dfa", table, code=2))
        self.assertIn("excludes", self.lrnn("certify", self.trained, "--dfa", table, "--regex", "a", code=2))
        bare = self.folder / "bare"
        shutil.copytree(self.trained / CHECKPOINT, bare)
        config = json.loads((bare / "config.json").read_text())
        del config["lrnn"]
        (bare / "config.json").write_text(json.dumps(config))
        self.assertIn("does not say what it was trained for", self.lrnn("certify", bare, code=2))


if __name__ == "__main__":
    LRNN = sys.argv.pop(1)
    unittest.main()
