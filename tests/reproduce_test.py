#!/usr/bin/env python3
"""`lrnn reproduce` from end to end: runs, report, kill -9 and resume, failures, and what it says to bad input."""

import argparse
import csv
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

EXPERIMENT = """title = "Small"
summary = "Two small models."
paper = "made up"
score = "scaled_accuracy"
lengths = [10, 20]
[[evaluations]]
lengths = [10, 20]
sequences = 64
[budgets.smoke]
seeds = [1, 2]
learning_rates = []
spectrum = true
settings = {{"train.steps" = {steps}}}
[budgets.short]
seeds = [1]
learning_rates = [1e-3, 3e-3]
settings = {{"train.steps" = 2}}
[budgets.full]
seeds = [1]
learning_rates = []
[[groups]]
name = "parity"
title = "Parity"
[[groups.rows]]
label = "DeltaNet [0,1]"
config = "small/original.toml"
median = 0.25
mad = 0.125
curve = "curves/original.csv"
[[groups.rows]]
label = "DeltaNet [-1,1]"
config = "small/extended.toml"
"""

CONFIG = """[task]
name = "parity"
train_lengths = [3, 10]
eval_lengths = [10, 20]
[model]
layer = "delta_net"
eigenvalues = "{eigenvalues}"
hidden_size = {width}
num_hidden_layers = 1
num_heads = 2
[train]
steps = 4
batch_size = 16
learning_rate = 3e-3
log_every = 1
eval_sequences = 16
checkpoint_every = 5
[reference]
source = "made up"
scaled_accuracy = 0.5
"""


class ReproduceTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="lrnn-reproduce-")
        self.addCleanup(scratch.cleanup)
        self.dir = pathlib.Path(scratch.name)

    def files(self, steps=4, width=16, broken=False):
        files = self.dir / "files"
        configs = files / "configs/paper"
        (configs / "small").mkdir(parents=True, exist_ok=True)
        (files / "data/paper/curves").mkdir(parents=True, exist_ok=True)
        (configs / "small.toml").write_text(EXPERIMENT.format(steps=steps))
        (configs / "small/original.toml").write_text(CONFIG.format(eigenvalues="[0,1]", width=width))
        (configs / "small/extended.toml").write_text(CONFIG.format(eigenvalues="[-1,1]", width=17 if broken else width))
        (files / "data/paper/curves/original.csv").write_text("len,scaled_acc\n5,1.0\n12,0.25\n")
        return files

    def command(self, *arguments, out="out"):
        return [LRNN, "reproduce", *map(str, arguments), "--out", str(self.dir / out)]

    def run_lrnn(self, *arguments, code=0, out="out"):
        result = subprocess.run(self.command(*arguments, out=out), capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def losses(self, out):
        found = {}
        for metrics in sorted((self.dir / out / "small-smoke/runs").glob("*/metrics.jsonl")):
            lines = [json.loads(line) for line in metrics.read_text().splitlines()]
            found[metrics.parent.name] = [line["loss"] for line in lines if line["kind"] == "train"]
        return found

    def test_results_and_reports(self):
        files = self.files()
        result = self.run_lrnn("small", "--budget", "smoke", "--files", files)
        for expected in ("Parity", "DeltaNet [0,1]", "0.500", "0.250 ± 0.125", "open it in a browser"):
            self.assertIn(expected, result.stdout)
        self.assertIn("done    original-lr0.003-seed1", result.stderr)
        out = self.dir / "out/small-smoke"
        report = json.loads((out / "report.json").read_text())
        self.assertEqual(report["runs"], {"planned": 4, "done": 4, "failed": 0})
        row = report["groups"][0]["rows"][0]
        scores = sorted(run["score"] for run in row["rates"][0]["runs"])
        self.assertEqual(row["best"], scores[-1])
        self.assertAlmostEqual(row["median"], sum(scores) / 2)
        self.assertAlmostEqual(row["mad"], (scores[1] - scores[0]) / 2)
        self.assertEqual(row["paper"], {"best": 0.5, "median": 0.25, "mad": 0.125, "curve": [[5, 1], [12, 0.25]]})
        self.assertEqual(row["run"]["train"]["steps"], 4)
        self.assertTrue(row["run"]["spectrum"]["layers"])
        with open(out / "runs.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 4)
        self.assertEqual(sorted(float(r["value"]) for r in rows if r["model"] == "DeltaNet [0,1]"), scores)
        with open(out / "curves.csv") as file:
            self.assertEqual({r["source"] for r in csv.DictReader(file)}, {"ours", "paper"})
        self.assertIn("lrnn.experiment", (out / "report.html").read_text())
        # What is done is not done again.
        before = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/eval.json")}
        self.run_lrnn("small", "--budget", "smoke", "--files", files)
        self.assertEqual({path: path.stat().st_mtime_ns for path in out.glob("runs/*/eval.json")}, before)
        # More seeds are added to what is there.
        self.run_lrnn("small", "--budget", "smoke", "--files", files, "--seeds", "1,3", "--only", "[0,1]")
        self.assertEqual(len(list(out.glob("runs/*/eval.json"))), 5)

    def test_learning_rate_by_median(self):
        self.run_lrnn("small", "--budget", "short", "--files", self.files(), "--only", "[0,1]")
        report = json.loads((self.dir / "out/small-short/report.json").read_text())
        for row in report["groups"][0]["rows"]:
            best = max(rate["median"] for rate in row["rates"])
            self.assertEqual(len(row["rates"]), 2)
            self.assertEqual([rate["median"] for rate in row["rates"] if rate["learning_rate"] == row["learning_rate"]], [best])

    def wait_for_steps(self, process, steps):
        for _ in range(6000):
            if any(len(losses) >= steps for losses in self.losses("out").values()):
                return
            self.assertIsNone(process.poll(), "it ended before it could be killed")
            time.sleep(0.01)
        self.fail("no progress")

    def children(self):
        """Processes that work in our directory."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                text = path.read_bytes()
            except OSError:
                continue
            if str(self.dir).encode() in text:
                found.append(int(path.parent.name))
        return found

    def test_killed_and_resumed(self):
        files = self.files(steps=60)
        arguments = ("small", "--budget", "smoke", "--files", files, "--jobs", 2, "--only", "[0,1]")
        process = subprocess.Popen(self.command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for_steps(process, 12)
        process.kill()
        process.wait()
        for _ in range(500):
            if not self.children():
                break
            time.sleep(0.01)
        self.assertEqual(self.children(), [])
        self.run_lrnn(*arguments)
        self.run_lrnn(*arguments, out="whole")
        self.assertEqual(self.losses("out"), self.losses("whole"))
        self.assertEqual([len(losses) for losses in self.losses("out").values()], [60] * 2)

    def test_interrupted(self):
        arguments = ("small", "--budget", "smoke", "--files", self.files(steps=5000))
        process = subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for_steps(process, 3)
        # Nobody else may work there meanwhile.
        self.assertIn("another lrnn reproduce is at work here", self.run_lrnn(*arguments, code=2).stderr)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("interrupted; saved in", errors)
        self.assertEqual(self.children(), [])
        state = json.loads((self.dir / "out/small-smoke/state.json").read_text())
        self.assertEqual({run["state"] for run in state["runs"].values()}, {"waiting"})

    def test_a_failed_run(self):
        files = self.files(broken=True)
        arguments = ("small", "--budget", "smoke", "--files", files, "--seeds", 1)
        result = self.run_lrnn(*arguments, code=1)
        self.assertIn("FAILED  extended-lr0.003-seed1", result.stderr)
        self.assertIn("1 run failed; --retry tries again", result.stderr)
        log = self.dir / "out/small-smoke/logs/extended-lr0.003-seed1.log"
        self.assertIn("num_heads", log.read_text())
        self.assertIn(f"(log: {log})", result.stderr)
        report = json.loads((self.dir / "out/small-smoke/report.json").read_text())
        self.assertEqual(report["runs"], {"planned": 2, "done": 1, "failed": 1})
        self.files()
        self.run_lrnn(*arguments, "--retry")

    def test_plan_and_errors(self):
        files = self.files()
        plan = self.run_lrnn("small", "--budget", "smoke", "--files", files, "--plan").stdout
        self.assertIn("small, smoke: 4 runs", plan)
        self.assertIn("--set train.steps=4", plan)
        self.assertFalse((self.dir / "out").exists())
        for arguments, message in (
            (("fig9",), 'unknown experiment "fig9" (known: fig1, fig3, fig6, table3, '),
            (("fig1", "--budget", "tiny"), '--budget: expected smoke, short or full, got "tiny"'),
            (("fig1", "--only", "none"), '--only: no row of fig1 contains "none"'),
            (("fig1", "--files", self.dir / "nowhere"), "nowhere: expected a directory that holds configs/"),
        ):
            self.assertIn(message, self.run_lrnn(*arguments, code=2).stderr)
        environment = subprocess.run([LRNN, "reproduce", "small", "--plan"], capture_output=True, text=True,
                                     env={**os.environ, "LRNN_EXPERIMENTS": str(files)})
        self.assertIn("small, short: 4 runs", environment.stdout, environment.stderr)

    def test_the_papers_experiments(self):
        plan = self.run_lrnn("all", "--budget", "full", "--plan").stdout
        for expected in ("fig1, full: 6 runs", "fig3, full: 28 runs", "fig6, full: 10 runs", "table3, full: 162 runs"):
            self.assertIn(expected, plan)
        self.run_lrnn("fig1", "--budget", "smoke", "--seeds", 1)
        report = json.loads((self.dir / "out/fig1-smoke/report.json").read_text())
        self.assertEqual(report["runs"], {"planned": 2, "done": 2, "failed": 0})
        self.assertTrue(all(row["learning"] for row in report["groups"][0]["rows"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("lrnn")
    options, rest = parser.parse_known_args()
    LRNN = options.lrnn
    unittest.main(argv=[sys.argv[0], *rest])
