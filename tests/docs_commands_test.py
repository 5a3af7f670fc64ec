#!/usr/bin/env python3
"""Runs the commands of README.md and docs/*.md, so that they cannot go stale.

    tests/docs_commands_test.py --root SOURCE --bin FOLDER_OF_LRNN [--self-test]

A fenced block is run by bash when the line before its fence is `<!-- test: run -->`; the blocks of one file share a
scratch directory, in order, with `lrnn` on PATH and configs/ and examples/ at hand. If the next fenced block is marked
`<!-- test: output -->`, it is what the commands must print: `...` within a line stands for anything, a line `...` for
any lines, and trailing blanks do not count.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RUN, OUTPUT = "<!-- test: run -->", "<!-- test: output -->"


class Block:
    def __init__(self, line, text, expected=None):
        self.line, self.text, self.expected = line, text, expected


def read_blocks(markdown):
    """The marked blocks; an Error for a mark that marks nothing, since that would be a test that never runs."""
    blocks, mark, fence, body, start, last = [], None, None, [], 0, None
    for number, line in enumerate(markdown.splitlines(), 1):
        stripped = line.strip()
        if fence:
            if stripped == fence:
                if mark == RUN:
                    last = Block(start + 1, "\n".join(body) + "\n")
                    blocks.append(last)
                elif mark == OUTPUT:
                    if last is None or last.expected is not None:
                        raise ValueError(f"{start}: expected a block of commands before this output")
                    last.expected = "\n".join(body)
                else:
                    last = None
                mark = fence = None
            else:
                body.append(line)
        elif stripped.startswith("```"):
            fence, body, start = re.match("`+", stripped).group(), [], number
            if mark == RUN and stripped.lstrip("`") not in ("sh", "bash"):
                raise ValueError(f"{number}: expected a sh block after {RUN}, got {stripped}")
        elif mark:
            raise ValueError(f"{number}: expected a fenced block directly after {mark}, got {stripped!r}")
        elif stripped in (RUN, OUTPUT):
            mark = stripped
        elif stripped.startswith("<!-- test:"):
            raise ValueError(f"{number}: unknown mark {stripped}")
    if fence or mark:
        raise ValueError(f"{start or number}: unfinished block")
    return blocks


def matches(expected, actual):
    """Whether the output is the expected one, wildcards considered."""
    pattern = ""
    for line in expected.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n"
    lines = [line.rstrip() for line in actual.strip("\n").splitlines()]
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines)) is not None


def run_file(path, root, bin_folder, timeout):
    """Runs the blocks of one file; returns (number of blocks, problems)."""
    try:
        blocks = read_blocks(path.read_text())
    except ValueError as error:
        return 0, [f"{path.name}:{error}"]
    problems = []
    with tempfile.TemporaryDirectory(prefix="lrnn-docs-") as scratch:
        for name in ("configs", "examples"):
            if (root / name).is_dir():
                (pathlib.Path(scratch) / name).symlink_to(root / name)
        path_variable = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        environment = dict(os.environ, PATH=path_variable, COLUMNS="120", NO_COLOR="1")
        for block in blocks:
            place = f"{path.name}:{block.line}"
            try:
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], cwd=scratch, env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
            except subprocess.TimeoutExpired:
                problems.append(f"{place}: not finished after {timeout} s\n{block.text}")
                break
            if done.returncode != 0:
                printed = done.stdout + done.stderr
                problems.append(f"{place}: exit code {done.returncode}\n{block.text}--- printed\n{printed}")
                break  # the blocks after it build on it
            if block.expected is not None and not matches(block.expected, done.stdout):
                problems.append(f"{place}: other output\n--- expected\n{block.expected}\n--- printed\n{done.stdout}")
    return len(blocks), problems


class SelfTest(unittest.TestCase):
    def problems(self, markdown):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.md"
            path.write_text(markdown)
            return run_file(path, pathlib.Path(folder), folder, 10)

    def block(self, commands, output=None):
        text = f"Words.\n\n{RUN}\n```sh\n{commands}\n```\n"
        return text + (f"\nprints\n\n{OUTPUT}\n```\n{output}\n```\n" if output is not None else "")

    def test_only_marked_blocks_run(self):
        self.assertEqual(self.problems("```sh\nfalse\n```\n"), (0, []))
        self.assertEqual(self.problems(self.block("true")), (1, []))

    def test_failing_command(self):
        count, problems = self.problems(self.block("echo first\nfalse\ntrue"))
        self.assertEqual(count, 1)
        self.assertRegex(problems[0], r"^page.md:5: exit code 1\n")

    def test_blocks_share_a_directory(self):
        self.assertEqual(self.problems(self.block("echo 7 > x") + self.block("cat x", "7")), (2, []))

    def test_output(self):
        self.assertEqual(self.problems(self.block("echo loss 0.25; echo end", "loss ...\nend")), (1, []))
        self.assertEqual(self.problems(self.block("seq 5", "1\n...\n5")), (1, []))
        self.assertEqual(self.problems(self.block("seq 5", "...")), (1, []))
        for wrong in ("1\n5", "1\n...\n4", "1\n2\n3\n4\n5\n6", "", "5\n..."):
            self.assertIn("other output", self.problems(self.block("seq 5", wrong))[1][0])

    def test_marks_that_mark_nothing(self):
        self.assertIn("directly after", self.problems(f"{RUN}\n\n```sh\ntrue\n```\n")[1][0])
        self.assertIn("expected a sh block", self.problems(f"{RUN}\n```toml\nx = 1\n```\n")[1][0])
        self.assertIn("before this output", self.problems(f"{OUTPUT}\n```\n1\n```\n")[1][0])
        self.assertIn("unknown mark", self.problems("<!-- test: rum -->\n")[1][0])
        self.assertIn("unfinished", self.problems(f"{RUN}\n```sh\ntrue\n")[1][0])


def main():
    parser = argparse.ArgumentParser(description="runs the commands of the documentation")
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one block")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(not unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful())

    root = arguments.root.resolve()
    if not (root / "README.md").exists():
        sys.exit("docs_commands: there is no README.md")
    failed = False
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        count, problems = run_file(path, root, arguments.bin.resolve(), arguments.timeout)
        for problem in problems:
            print(problem)
        print(f"{path.relative_to(root)}: {count} blocks run, {len(problems)} problems")
        failed = failed or bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
