"""The package within a process: threads, the OpenMP runtime, and a library that is missing or does not load."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import torch

import lrnn
from compare import random

PACKAGE = pathlib.Path(lrnn.__file__).parent


def run(program, path=PACKAGE.parent):
    """What `program` prints, in a Python of its own."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", program], cwd=path, env=environment, capture_output=True, text=True)


class Process(unittest.TestCase):
    def test_threads_are_torchs(self):
        # As many as torch says (those of OpenMP stay when a call is over; torch.set_num_threads makes some for a pool
        # of its own), and of one runtime, or they would be twice as many.
        result = run("""
import os, torch, lrnn
q, beta = torch.ones(8, 64, 4, 32), torch.ones(8, 64, 4)
for threads in (1, 3):
    torch.set_num_threads(threads)
    before = len(os.listdir("/proc/self/task"))
    lrnn.chunk_delta_rule(q, q, q, beta)
    print(len(os.listdir("/proc/self/task")) - before)
torch.ones(512, 512) @ torch.ones(512, 512)
print(open("/proc/self/maps").read())
""")
        self.assertEqual(result.stdout.split()[:2], ["0", "2"], result.stderr)
        runtimes = set(re.findall(r"\S*/lib(?:gomp|omp|iomp)\S*", result.stdout))
        self.assertEqual(len(runtimes), 1, runtimes)

    def test_calls_from_many_threads_at_once(self):
        tensors = [random(2, 50, 2, 8, seed=i, dtype=torch.float32) / 3 for i in range(3)]
        beta = torch.sigmoid(random(2, 50, 2, dtype=torch.float32))

        def gradient():
            q = tensors[0].clone().requires_grad_()
            o, _ = lrnn.chunk_delta_rule(q, *tensors[1:], beta)
            return torch.autograd.grad(o.square().sum(), q)[0]

        expected, actual = gradient(), []
        threads = [threading.Thread(target=lambda: actual.extend(gradient() for _ in range(20))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(actual), 80)
        self.assertTrue(all(torch.equal(x, expected) for x in actual))

    def test_library_that_does_not_load(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "lrnn"
            shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
            library = package / "liblrnn_torch_ops.so"
            result = run(f"""
for step in range(2):
    try:
        import lrnn
    except ImportError as error:
        print(error)
    open({str(library)!r}, "w").write("not a library")
""", folder)
            missing, broken = result.stdout.splitlines()
            for message, reason in ((missing, "No such file"), (broken, "too short|invalid ELF header")):
                self.assertIn(f"lrnn: {library} does not load into torch {torch.__version__}. ", message)
                self.assertRegex(message, reason)

    def test_version(self):
        self.assertRegex(lrnn.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
