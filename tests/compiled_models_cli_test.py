#!/usr/bin/env python3
"""Compiled automata in the hands of the other commands:  compiled_models_cli_test.py PROGRAM HAS_TORCH(ON|OFF)"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LRNN = HAS_TORCH = None

PARITY = "letters 0 1\nstart e\naccept o\ne: e o\no: o e\n"


class CompiledModels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "parity.dfa").write_text(PARITY)

    def lrnn(self, *arguments, code=0):
        done = subprocess.run([LRNN, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def compile_parity(self, *options):
        self.lrnn("compile", "--dfa", "parity.dfa", "-o", "m", "--overwrite", *options)

    def test_fuzz(self):
        printed = self.lrnn("fuzz", "--count", "10", "--seed", "2")
        self.assertIn("10 automata in ", printed)
        self.assertIn(", 0 errors\n", printed)
        result = json.loads(self.lrnn("fuzz", "--count", "5", "--seed", "2", "--first", "100", "--json"))
        self.assertEqual((result["automata"], result["first"]), (5, 100))
        self.assertEqual(result["all"]["errors"], 0)
        self.assertEqual(result["modes"]["jit"]["networks"], 5)
        self.assertEqual(result["failures"], [])
        self.assertEqual(list(self.folder.glob("fuzz-*")), [])

    def test_random_letters(self):
        self.compile_parity()
        self.assertRegex(self.lrnn("run", "m", "--random", "200000"),
                         r"^m: 200000 random letters, 0 errors, [0-9.e+]+ million letters/s on one core\n$")
        result = json.loads(self.lrnn("run", "m", "--random", "1000", "--seed", "5", "--json"))
        self.assertEqual((result["letters"], result["errors"]), (1000, 0))
        self.compile_parity("--mode", "jit")
        self.lrnn("run", "m", "--random", "1000")
        self.lrnn("run", "m", "--random", "0", code=2)
        self.assertIn("WORD excludes --random", self.lrnn("run", "m", "--random", "10", "01", code=2))

    def test_a_wrong_model_is_found_out(self):
        self.compile_parity()
        weights = self.folder / "m/model.safetensors"
        data = weights.read_bytes()
        header_bytes = int.from_bytes(data[:8], "little")
        tensor = json.loads(data[8:8 + header_bytes])["transitions"]
        begin = 8 + header_bytes + tensor["data_offsets"][0]
        # The automaton becomes another one: the letter 1 leads from state 0 to 0. The layers stay those of parity.
        changed = bytearray(data)
        changed[begin + 8:begin + 12] = (0).to_bytes(4, "little")
        weights.write_bytes(bytes(changed))
        self.assertRegex(self.lrnn("run", "m", "--random", "1000", code=1),
                         r"m: after \d+ letters the model says state 1, the automaton 0")

    def test_eval(self):
        if HAS_TORCH != "ON":
            self.skipTest("eval is built with torch")
        self.compile_parity()
        self.assertIn("m: its own language, lengths 40:256: accuracy 1.000 (", self.lrnn("eval", "m", "--sequences", "20"))
        printed = self.lrnn("eval", "m", "--task", "parity", "--lengths", "1000", "--sequences", "30")
        self.assertIn("m: parity, lengths 1000:1000: accuracy 1.000 (30 of 30 answers, 30 sequences", printed)
        result = json.loads(self.lrnn("eval", "m", "--task", "dfa", "--set", "file=parity.dfa", "--set", "predict=state",
                                      "--lengths", "50", "--sequences", "3", "--json"))
        self.assertEqual((result["right"], result["answers"], result["accuracy"]), (150, 150, 1.0))
        self.assertIn("--task: \"regex\" has the symbol a; the letters of the automaton are 0 1",
                      self.lrnn("eval", "m", "--task", "regex", "--set", "regex=(aa)*", code=2))
        self.assertIn("--horizon: m is a compiled automaton", self.lrnn("eval", "m", "--horizon", code=2))

    def test_analyze(self):
        if HAS_TORCH != "ON":
            self.skipTest("analyze is built with torch")
        self.compile_parity("--mode", "relax")
        lines = [line.split() for line in self.lrnn("analyze", "m").splitlines()[1:]]
        self.assertEqual(lines, [["level", "layer", "letter", "eigenvalues"], ["1", "1", "0", "1"], ["1", "1", "1", "-1"]])
        result = json.loads(self.lrnn("analyze", "m", "--json"))
        self.assertEqual(result["letters"][1], {"letter": "1", "level": 1, "layer": 1, "eigenvalues": [[-1.0, 0.0]]})
        self.compile_parity("--mode", "jit")
        self.assertIn("mode jit writes its factors as they are needed", self.lrnn("analyze", "m"))


if __name__ == "__main__":
    LRNN, HAS_TORCH = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
