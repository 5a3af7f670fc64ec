#!/usr/bin/env python3
"""Models of several kinds of layers through the `lrnn` program: train, resume, evaluate, analyse, run, report."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LRNN = ""

CONFIG = """[task]
name = "parity"
train_lengths = [3, 10]
eval_lengths = [10, 20]
[model]
layers = {layers}
eigenvalues = "[-1,1]"
hidden_size = 16
num_hidden_layers = 4
[train]
steps = 6
batch_size = 16
learning_rate = 3e-3
log_every = 1
eval_sequences = 16
checkpoint_every = 3
"""


def lrnn(*arguments):
    return subprocess.run([LRNN, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class HybridTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="lrnn-hybrid-")
        self.addCleanup(scratch.cleanup)
        self.dir = pathlib.Path(scratch.name)

    def config(self, layers):
        path = self.dir / "hybrid.toml"
        path.write_text(CONFIG.format(layers=layers))
        return path

    def check(self, *arguments):
        result = lrnn(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_every_command_takes_it(self):
        run = self.dir / "run"
        layers = '["delta_net", {layer = "gla", num_heads = 2, eigenvalues = "[0,1]"}]'
        self.check("train", self.config(layers), "--out", run, "--quiet")
        model = json.loads((run / "checkpoints/step-00000006/config.json").read_text())
        self.assertEqual(model["model_type"], "hybrid")
        self.assertEqual([layer["layer"] for layer in model["layers"]], ["delta_net", "gla"])
        self.assertEqual([layer["num_heads"] for layer in model["layers"]], [4, 2])
        self.assertEqual([layer["allow_neg_eigval"] for layer in model["layers"]], [True, False])

        self.check("eval", run, "--lengths", "10:20", "--sequences", 8)
        self.check("analyze", run, "--spectrum", "--sequences", 4)
        spectrum = json.loads((run / "spectrum.json").read_text())
        self.assertEqual([layer["layer"] for layer in spectrum["layers"]], [0, 1, 2, 3])
        self.assertGreaterEqual(spectrum["layers"][1]["min"], 0)
        self.check("run", run, "1011")
        self.check("report", run, "-o", self.dir / "report.html")

    def test_bad_lists(self):
        for layers, message in (
            ('["delta_net", "lstm2"]', 'unknown layer "lstm2"'),
            ("[]", "expected a list of layers"),
            ('["gla", "gla", "mamba"]', 'expected a multiple of 3 (the number of "layers"), got 4'),
        ):
            result = lrnn("train", self.config(layers), "--out", self.dir / "run", "--quiet")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    LRNN = sys.argv.pop(1)
    unittest.main()
