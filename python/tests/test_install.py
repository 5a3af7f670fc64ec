"""pip installs the package, without a network, and what is installed works."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import lrnn

SOURCE = pathlib.Path(__file__).resolve().parent.parent


@unittest.skipUnless(all(importlib.util.find_spec(name) for name in ("pip", "setuptools", "wheel")),
                     "pip, setuptools or wheel is not installed")
class Install(unittest.TestCase):
    def test_pip_install(self):
        with tempfile.TemporaryDirectory() as folder:
            # The library that is there is packed, without its line numbers: nothing is compiled here.
            library = os.path.join(folder, "liblrnn_torch_ops.so")
            built = pathlib.Path(lrnn.__file__).parent / "liblrnn_torch_ops.so"
            subprocess.run(["strip", "--strip-unneeded", "-o", library, built], check=True)
            target = os.path.join(folder, "site-packages")
            pip = subprocess.run(
                [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index",
                 "--no-compile", "--target", target, SOURCE],
                env={**os.environ, "LRNN_TORCH_OPS": library}, capture_output=True, text=True)
            self.assertEqual(pip.returncode, 0, pip.stdout + pip.stderr)
            program = "import lrnn, torch; x = torch.ones(1, 2, 1, 1); " \
                      "print(lrnn.__file__, lrnn.chunk_delta_rule(x, x, x, x[..., 0])[0].flatten().tolist())"
            result = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True,
                                    env={**os.environ, "PYTHONPATH": target})
            self.assertEqual(result.stdout, f"{target}/lrnn/__init__.py [1.0, 1.0]\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
