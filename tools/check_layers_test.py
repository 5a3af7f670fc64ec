#!/usr/bin/env python3
"""check_layers.py finds each kind of violation, and none in a tree that has none."""

import pathlib
import tempfile
import unittest

import check_layers

CLEAN = {
    "lrnn/base/error.h": "#include <string>\n",
    "lrnn/base/CMakeLists.txt": "lrnn_component(base\n  MODULES error)\n",
    "lrnn/kernels/scan.cc": '#include "lrnn/base/error.h"\n#include "lrnn/kernels/scan.h"\n',
    "lrnn/kernels/CMakeLists.txt": "lrnn_component(kernels\n  MODULES scan\n  DEPENDS base\n  LINK hwy::hwy)\n",
    "lrnn/ops/scan.cc": '#include <torch/torch.h>\n#include "lrnn/kernels/scan.h"\n',
    "lrnn/ops/CMakeLists.txt": "lrnn_component(ops\n  MODULES scan\n  DEPENDS base kernels\n  TORCH)\n",
    "cli/main.cc": '#include "lrnn/ops/scan.h"\n#include "lrnn/base/error.h"\n',
}


class CheckLayers(unittest.TestCase):
    def problems(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**CLEAN, **changes}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.check(root)

    def test_clean_tree(self):
        self.assertEqual(self.problems({}), [])

    def test_forbidden_include(self):
        self.assertEqual(
            self.problems({"lrnn/base/error.h": '#include <string>\n\n#include "lrnn/kernels/scan.h"\n'}),
            ["lrnn/base/error.h:3: base may not include kernels (lrnn/kernels/scan.h)"])

    def test_forbidden_include_below_a_folder(self):
        self.assertEqual(
            self.problems({"lrnn/kernels/deep/er.h": '# include "lrnn/ops/scan.h"\n'}),
            ["lrnn/kernels/deep/er.h:1: kernels may not include ops (lrnn/ops/scan.h)"])

    def test_torch_in_the_half_without(self):
        for header in ("torch/torch.h", "ATen/ATen.h", "c10/util/Half.h"):
            self.assertEqual(
                self.problems({"lrnn/kernels/scan.h": f"#include <{header}>\n"}),
                [f"lrnn/kernels/scan.h:1: kernels is of the half without torch and includes {header}"])

    def test_torch_keyword_in_the_half_without(self):
        self.assertEqual(
            self.problems({"lrnn/base/CMakeLists.txt": "lrnn_component(base MODULES error TORCH)\n"}),
            ["lrnn/base/CMakeLists.txt:1: base is of the half without torch"])

    def test_forbidden_depends(self):
        self.assertEqual(
            self.problems({
                "lrnn/kernels/CMakeLists.txt":
                    "# kernels\nlrnn_component(kernels MODULES scan\n  DEPENDS base\n    ops)\n"
            }),
            ["lrnn/kernels/CMakeLists.txt:4: kernels may not depend on ops"])

    def test_included_but_not_in_depends(self):
        self.assertEqual(
            self.problems({"lrnn/ops/CMakeLists.txt": "lrnn_component(ops MODULES scan DEPENDS base TORCH)\n"}),
            ["lrnn/ops/scan.cc:2: ops includes kernels, which its CMakeLists.txt does not name in DEPENDS"])

    def test_unknown_folders(self):
        self.assertEqual(self.problems({"lrnn/util/x.h": ""}), ["lrnn/util: not in the table of tools/check_layers.py"])
        self.assertEqual(
            self.problems({"cli/main.cc": '#include "lrnn/util/x.h"\n'}),
            ["cli/main.cc:1: includes lrnn/util/x.h, a folder that is not in the table"])

    def test_table_that_is_not_a_ladder(self):
        with self.assertRaisesRegex(ValueError, "the row of io names ops, which is not above it"):
            check_layers.read_ladder([("base", "", False), ("io", "ops", False), ("ops", "", True)])
        with self.assertRaisesRegex(ValueError, "the row of report, without torch, names ops, which has torch"):
            check_layers.read_ladder([("base", "", False), ("ops", "", True), ("report", "ops", False)])

    def test_empty_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "lrnn").mkdir()
            self.assertEqual(len(check_layers.check(pathlib.Path(folder))), 1)


if __name__ == "__main__":
    unittest.main()
