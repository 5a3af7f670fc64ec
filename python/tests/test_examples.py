"""The Python code of the documentation runs, and the parity example says what the documentation says."""

import contextlib
import io
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = (ROOT / "examples" / "train_parity.py").read_text()


def output_of(program):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, "example", "exec"), {})
    return output.getvalue()


class Examples(unittest.TestCase):
    def test_parity_needs_negative_eigenvalues(self):
        result = "trained on 40 bits; right on 1,000 bits: 100.0%"
        self.assertEqual(output_of(EXAMPLE), result + "\n")
        self.assertIn(result, (ROOT / "docs" / "python.md").read_text())
        without = output_of(EXAMPLE.replace("2 * torch.sigmoid", "1 * torch.sigmoid"))
        self.assertLess(float(re.search(r"([\d.]+)%", without).group(1)), 60)

    def test_code_of_the_documentation(self):
        pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
        text = "\n".join(page.read_text() for page in pages)
        blocks = set(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
        self.assertIn(EXAMPLE, blocks)
        for block in blocks - {EXAMPLE}:
            with self.subTest(block=block):
                output_of(block)


if __name__ == "__main__":
    unittest.main()
