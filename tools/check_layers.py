#!/usr/bin/env python3
"""Holds the folders of lrnn to their ladder: fails, with file:line, where a folder uses one that it may not.

    tools/check_layers.py [ROOT]

Three things are checked: the includes of lrnn/ and cli/, the DEPENDS of each lrnn/*/CMakeLists.txt (an included folder
is among them, and nothing that the table does not allow), and that only the torch half touches torch.
"""

import pathlib
import re
import sys

# Folder, what it may include (base is open to all), whether it may use torch. A row names only rows above it, which
# makes cycles impossible to write; a row without torch names only rows without torch.
LADDER = [
    ("base", "", False),
    ("io", "", False),
    ("kernels", "", False),
    ("automata", "", False),
    ("tasks", "automata", False),
    ("runtime", "io kernels automata", False),
    ("compile", "io kernels automata runtime", False),
    ("theory", "automata runtime compile", False),
    ("report", "io", False),
    ("experiments", "io report", False),
    ("ops", "kernels", True),
    ("layers", "io ops", True),
    ("models", "io runtime ops layers", True),
    ("data", "io", True),
    ("train", "io kernels tasks ops layers data models", True),
    ("analysis", "io automata tasks runtime ops layers models", True),
]

TORCH_HEADERS = ("torch/", "ATen/", "c10/", "caffe2/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')


def read_ladder(rows):
    """{folder: set of folders it may include, itself among them} and the set of folders with torch."""
    allowed, with_torch = {}, set()
    for folder, names, torch in rows:
        for name in names.split():
            if name not in allowed:
                raise ValueError(f"the row of {folder} names {name}, which is not above it")
            if name in with_torch and not torch:
                raise ValueError(f"the row of {folder}, without torch, names {name}, which has torch")
        allowed[folder] = {"base", folder, *names.split()}
        if torch:
            with_torch.add(folder)
    return allowed, with_torch


def component_arguments(text):
    """{"DEPENDS": [(line, word)...], ...} of the lrnn_component call of a CMakeLists.txt, None if it has none."""
    keyword, arguments, depth = None, None, 0
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.findall(r"[()]|[^\s()]+", line.split("#")[0]):
            if word == "lrnn_component":
                arguments = {}
            elif arguments is not None and word == "(":
                depth += 1
            elif arguments is not None and word == ")":
                depth -= 1
                if depth == 0:
                    return arguments
            elif arguments is not None and word in ("MODULES", "DEPENDS", "LINK", "TORCH"):
                keyword = word
                arguments[word] = []
            elif arguments is not None and keyword:
                arguments[keyword].append((number, word))
    return arguments


def check_cmake(root, folder, allowed, with_torch):
    """(what is wrong with the folder's CMakeLists.txt, what its DEPENDS names)."""
    path = root / "lrnn" / folder / "CMakeLists.txt"
    arguments = component_arguments(path.read_text()) if path.exists() else None
    if arguments is None:
        return [], None
    place = path.relative_to(root)
    problems = []
    for number, name in arguments.get("DEPENDS", []):
        if name not in allowed[folder] - {folder}:
            problems.append(f"{place}:{number}: {folder} may not depend on {name}")
    if "TORCH" in arguments and folder not in with_torch:
        problems.append(f"{place}:1: {folder} is of the half without torch")
    return problems, {name for _, name in arguments.get("DEPENDS", [])}


def check_source(root, path, allowed, with_torch, depends):
    """Problems of the includes of one file; `depends` is what its folder's DEPENDS names, or None."""
    place = path.relative_to(root)
    folder = place.parts[1] if place.parts[0] == "lrnn" else None  # None: cli, which may use all
    problems = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        header = found.group(1)
        if header.startswith(TORCH_HEADERS) and folder and folder not in with_torch:
            problems.append(f"{place}:{number}: {folder} is of the half without torch and includes {header}")
        if not header.startswith("lrnn/"):
            continue
        target = header.split("/")[1]
        if target not in allowed:
            problems.append(f"{place}:{number}: includes {header}, a folder that is not in the table")
        elif folder and target not in allowed[folder]:
            problems.append(f"{place}:{number}: {folder} may not include {target} ({header})")
        elif folder and depends is not None and target not in depends | {folder}:
            problems.append(
                f"{place}:{number}: {folder} includes {target}, which its CMakeLists.txt does not name in DEPENDS")
    return problems


def check(root, rows=LADDER):
    """Every violation below root, as "file:line: what"."""
    allowed, with_torch = read_ladder(rows)
    problems = []
    sources = 0
    folders = sorted(path for path in (root / "lrnn").iterdir() if path.is_dir()) + [root / "cli"]
    for path in folders:
        folder = path.name if path.parent == root / "lrnn" else None
        depends = None
        if folder:
            if folder not in allowed:
                problems.append(f"lrnn/{folder}: not in the table of tools/check_layers.py")
                continue
            wrong, depends = check_cmake(root, folder, allowed, with_torch)
            problems += wrong
        for source in sorted(path.rglob("*")):
            if source.suffix in (".h", ".cc") and source.is_file():
                sources += 1
                problems += check_source(root, source, allowed, with_torch, depends)
    if sources == 0:
        problems.append(f"{root}: no source files found")
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
