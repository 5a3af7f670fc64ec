#!/usr/bin/env python3
"""The `lrnn` program from end to end: train, interrupt, kill, resume, evaluate, run, report; and what it says to bad input."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LRNN = ""

CONFIG = """[task]
name = "parity"
train_lengths = [3, 10]
eval_lengths = [10, 20]
[model]
layer = "{layer}"
eigenvalues = "[-1,1]"
hidden_size = 16
num_hidden_layers = 1
[train]
steps = {steps}
batch_size = 16
learning_rate = 3e-3
log_every = 1
eval_sequences = 16
checkpoint_every = 5
"""


def lrnn(*arguments, stdin=None):
    return subprocess.run([LRNN, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=300)


def losses(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if line["kind"] == "train"]


class CliTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="lrnn-cli-")
        self.addCleanup(scratch.cleanup)
        self.dir = pathlib.Path(scratch.name)

    def config(self, name="small", steps=12, layer="delta_net"):
        path = self.dir / f"{name}.toml"
        path.write_text(CONFIG.format(layer=layer, steps=steps))
        return path

    def check(self, result, code=0):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def train(self, *arguments):
        return self.check(lrnn("train", *arguments, "--quiet"))

    def wait_for_steps(self, run, steps, process):
        metrics = run / "metrics.jsonl"
        for _ in range(3000):
            if metrics.exists() and metrics.read_text().count('"train"') >= steps:
                return
            self.assertIsNone(process.poll(), "the run ended before it could be interrupted")
            time.sleep(0.01)
        self.fail("no progress")

    def start(self, config, run):
        return subprocess.Popen([LRNN, "train", config, "--out", run, "--resume"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_train_eval_analyze_report_run(self):
        runs = []
        for layer in ("delta_net", "mamba"):
            run = self.dir / layer
            runs.append(run)
            self.assertIn("12 steps; scaled accuracy", self.train(self.config(layer=layer), "--out", run))
            self.assertIn("scaled accuracy", self.check(lrnn("eval", run, "--sequences", 50)))
            self.assertIn("1 sequences, 1999 tokens", self.check(lrnn("eval", run, "--lengths", 2000, "--sequences", 1)))
            result = json.loads(self.check(lrnn("eval", run, "--lengths", "10:20", "--sequences", 50, "--json")))
            self.assertEqual(sum(row["sequences"] for row in result["by_length"]), 50)
            kept = json.loads((run / "eval.json").read_text())["evaluations"]
            self.assertEqual([e["lengths"] for e in kept], [[2000, 2000], [10, 20]], "the same lengths replace, others stay")
            self.assertIn("share below 0", self.check(lrnn("analyze", run)))
            # Words as arguments and as a stream give the same predictions, one for each token.
            words = self.check(lrnn("run", run, "1011", "01"))
            self.assertEqual([len(line.split()) for line in words.splitlines()], [4, 2])
            self.assertEqual(self.check(lrnn("run", run, stdin="1 0 11\n\n0 1")), words)
            objects = [json.loads(line) for line in self.check(lrnn("run", run, "--json", "1011", "01")).splitlines()]
            self.assertEqual([" ".join(o["predictions"]) for o in objects], words.splitlines())
            self.assertEqual(objects[0]["tokens"], ["1", "0", "1", "1"])
        page = self.dir / "report.html"
        table = self.check(lrnn("report", *runs, "-o", page))
        self.assertIn("DeltaNet [-1,1]", table)
        self.assertIn("Mamba [-1,1]", table)
        self.assertTrue(page.read_text().startswith("<!DOCTYPE html>") or page.read_text().startswith("<!doctype html>"))
        self.assertEqual(json.loads((self.dir / "report.json").read_text())["format"], "lrnn.report")

    def test_theorems_on_trained_models(self):
        run = self.dir / "run"
        self.train(self.config(), "--out", run)
        # With eigenvalues in [-1, 1] only what was seen is known; with those in [0, 1] no input can help.
        parity = self.check(lrnn("theory", "parity", run))
        self.assertIn("matrices of 1 layer, on the inputs that were seen", parity)
        self.assertNotIn("verdict     impossible", parity)
        horizon = json.loads(self.check(lrnn("theory", "horizon", run, "--json")))["layers"][0]
        self.assertGreater(horizon["tokens"]["fp64"], horizon["tokens"]["bf16"])
        self.assertLess(horizon["eigenvalue"][0], 0)
        words = json.loads(self.check(lrnn("theory", "period", run, "--steps", 2000, "--word", "1 0", "--json")))["words"]
        self.assertEqual([word["word"] for word in words], ["1 0"])
        self.assertEqual([one["rounding"] for one in words[0]["results"]], ["fp32"])
        self.assertIn("products of a model's matrices", lrnn("theory", "modcount", run).stderr)
        original = self.dir / "original.toml"
        original.write_text(CONFIG.format(layer="delta_net", steps=2).replace("[-1,1]", "[0,1]"))
        self.train(original, "--out", self.dir / "original")
        self.assertIn("verdict     impossible", self.check(lrnn("theory", "parity", self.dir / "original")))

    def test_a_killed_run_goes_on_with_the_same_numbers(self):
        config = self.config(steps=60)
        self.train(config, "--out", self.dir / "whole")
        run = self.dir / "killed"
        for steps in (3, 17, 33):
            process = self.start(config, run)
            self.wait_for_steps(run, steps, process)
            process.kill()
            process.communicate()
        self.train(config, "--out", run, "--resume")
        self.assertEqual(losses(run), losses(self.dir / "whole"))
        self.assertEqual(json.loads((run / "train.json").read_text())["state"], "complete")

    def test_ctrl_c_saves_and_leaves(self):
        config = self.config(steps=100000)
        run = self.dir / "run"
        process = self.start(config, run)
        self.wait_for_steps(run, 7, process)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("interrupted; saved. Go on with: lrnn train", stderr)
        state = json.loads((run / "train.json").read_text())
        self.assertEqual(state["state"], "interrupted")
        saved = sorted(os.listdir(run / "checkpoints"))[-1]
        self.assertEqual(int(saved.removeprefix("step-")), state["step"])

    def refused(self, message, *arguments, code=2, stdin=None):
        result = lrnn(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertIn(message, result.stderr)
        self.assertTrue(result.stderr.startswith("lrnn: "), result.stderr)

    def test_bad_input_is_one_line_and_exit_code_2(self):
        config, run = self.config(), self.dir / "run"
        broken = self.dir / "broken.toml"
        broken.write_text(config.read_text().replace("batch_size", "batchsize"))
        self.refused(f"{broken}:10: [train] key \"batch_size\" is missing", "train", broken, "--out", run)
        self.assertFalse(run.exists(), "nothing was made")
        self.refused("no/such.toml", "train", "no/such.toml", "--out", run)
        self.refused("--set: [train] steps", "train", config, "--set", "train.steps=x", "--out", run)
        self.train(config, "--out", run)
        weights = (run / "checkpoints/step-00000012/model.safetensors").read_bytes()
        self.refused("--resume", "train", config, "--out", run)
        self.refused("keeps its configuration", "train", config, "--out", run, "--resume", "--set", "train.steps=5")
        self.assertEqual((run / "checkpoints/step-00000012/model.safetensors").read_bytes(), weights)
        self.refused("--lengths: expected SHORTEST:LONGEST", "eval", run, "--lengths", "9:3")
        self.refused("--lengths: expected SHORTEST:LONGEST", "eval", run, "--lengths", "abc")
        self.refused('unknown task "party" (known: parity', "eval", run, "--task", "party")
        self.refused("nowhere: expected a model directory", "eval", self.dir / "nowhere")
        self.refused("2", "run", run, "102")
        self.refused("x", "run", run, stdin="1 0 x 1\n")
        self.refused("config.json", "run", self.dir)
        self.refused("expected a file name that ends in .html", "report", run, "-o", self.dir / "page.txt")
        self.refused("nowhere", "report", self.dir / "nowhere")
        self.refused('unknown task "party"', "tasks", "--show", "party")
        self.refused('task "group": unknown parameter "size" (known: group, ', "tasks", "--show", "group", "--set", "size=3")
        self.refused('--set: expected PARAMETER=VALUE, got "S3"', "tasks", "--show", "group", "--set", "S3")
        self.refused("expected lengths from 2 on for task parity, got 1:1", "tasks", "--show", "parity", "--length", 1)
        self.refused('unknown layer "lstm2"', "layers", "lstm2")
        self.refused("--frobnicate", "train", config, "--frobnicate")
        self.refused("subcommand", "")
        self.refused('unknown command "trian" (known: train, ', "trian")
        (run / "checkpoints/step-00000012/model.safetensors").write_bytes(weights[:-3])
        self.refused("model.safetensors", "run", run, "1")
        self.refused("model.safetensors", "eval", run)

    def test_the_loss_that_is_not_finite(self):
        self.refused("the loss is", "train", self.config(), "--out", self.dir / "run", "--set", "train.learning_rate=1e30", "--quiet", code=1)

    def test_lists_and_help(self):
        self.assertRegex(self.check(lrnn("--version")), r"^lrnn \d+\.\d+\.\d+\n$")
        self.assertIn("train", self.check(lrnn("--help")))
        self.assertIn("--resume", self.check(lrnn("train", "--help")))
        self.assertIn("parity", self.check(lrnn("tasks")))
        layers = self.check(lrnn("layers"))
        for word in ("delta_net", "mamba", "[-1,1]", "531648"):
            self.assertIn(word, layers)
        self.assertIn("conv_size", self.check(lrnn("layers", "delta_net")))
        examples = self.check(lrnn("tasks", "--show", "parity", "--count", 7)).split("\n\n")[1:]
        self.assertEqual(len(examples), 7)
        for example in examples:
            _, read, predict = example.rstrip().splitlines()
            self.assertEqual(int(predict.split()[1]), read.split()[1:].count("1") % 2)
            self.assertEqual(len(predict), len(read), "the answer is under the last bit")
        shown = self.check(lrnn("tasks", "--show", "group", "--set", "group=Z7", "--set", "bos=false", "--length", 5, "--count", 1))
        words = [line.split()[1:] for line in shown.splitlines() if line.startswith(("  read", "  predict"))]
        self.assertEqual([int(y) for y in words[1]], [sum(map(int, words[0][:t + 1])) % 7 for t in range(5)])

    def test_default_run_directory(self):
        config = self.config(name="mine")
        result = subprocess.run([LRNN, "train", config, "--quiet"], cwd=self.dir, capture_output=True, text=True)
        self.check(result)
        self.assertTrue((self.dir / "runs/mine/config.toml").exists())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("lrnn")
    parser.add_argument("rest", nargs="*")
    arguments = parser.parse_args()
    LRNN = os.path.abspath(arguments.lrnn)
    unittest.main(argv=[sys.argv[0], *arguments.rest])
