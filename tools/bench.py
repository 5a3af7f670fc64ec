#!/usr/bin/env python3
"""Runs the benchmarks of build/bench/bin, with the machine named.

    tools/bench.py                                            the table of docs/performance.md, a verdict for each row
    tools/bench.py --filter REGEX [--repetitions N]           medians of single benchmarks; `--filter .` for all

The complete results of single benchmarks are left as JSON in build/bench/results, one file per program.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output_of(*command):
    """First line the command prints, or "unknown"."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def cpu_name():
    try:
        found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else platform.machine()


def compiler(folder):
    """The compiler CMake chose for this build."""
    found = re.search(r"^CMAKE_CXX_COMPILER:[A-Z]+=(.*)$", (folder / "CMakeCache.txt").read_text(), re.MULTILINE)
    return output_of(found.group(1), "--version") if found else "unknown"


def commit():
    changed = output_of("git", "status", "--porcelain", "--untracked-files=no") != "unknown"
    return output_of("git", "rev-parse", "--short", "HEAD") + (" + changes" if changed else "")


def per_second(value):
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}/s"
    return f"{value:.3g} /s"


def run(program, results, filter_, repetitions):
    """Rows (benchmark, median time, items per second) of one program."""
    out = results / f"{program.name}.json"
    command = [
        str(program),
        f"--benchmark_filter={filter_}",
        f"--benchmark_repetitions={repetitions}",
        "--benchmark_report_aggregates_only=true",
        f"--benchmark_out={out}",
        "--benchmark_out_format=json",
    ]
    log = results / f"{program.name}.log"
    out.unlink(missing_ok=True)
    with log.open("w") as text:
        code = subprocess.run(command, stdout=text, stderr=subprocess.STDOUT).returncode
    if code != 0:
        sys.exit(f"bench: {program.name} failed ({code}); its output: {log}")
    # A filter that matches nothing leaves an empty file.
    if not out.exists() or out.stat().st_size == 0:
        return []
    rows = []
    for entry in json.loads(out.read_text())["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"bench: {entry['name']}: {entry.get('error_message')}")
        if entry.get("aggregate_name") == "median":
            items = entry.get("items_per_second")
            rows.append((entry["run_name"], f"{entry['real_time']:.4g} {entry['time_unit']}",
                         per_second(items) if items else ""))
    return rows


def main():
    parser = argparse.ArgumentParser(description="runs the benchmarks and prints medians")
    parser.add_argument("--filter", help="instead of the table, the benchmarks whose name matches this expression")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench")
    arguments = parser.parse_args()

    threads = len(os.sched_getaffinity(0))
    print(f"cpu       {cpu_name()}")
    print(f"threads   {threads}")
    print(f"compiler  {compiler(arguments.folder)}")
    print(f"commit    {commit()}", flush=True)
    if arguments.filter is None:
        sys.exit(subprocess.run([arguments.folder / "bin/lrnn_performance"]).returncode)

    programs = sorted(arguments.folder.glob("bin/*_bench"))
    if not programs:
        sys.exit(f"bench: no benchmark programs in {arguments.folder}/bin")
    results = arguments.folder / "results"
    results.mkdir(exist_ok=True)
    print(f"median of {arguments.repetitions} repetitions\n")
    printed = 0
    for program in programs:
        for name, time, items in run(program, results, arguments.filter, arguments.repetitions):
            print(f"{name:<64} {time:>12} {items:>12}", flush=True)
            printed += 1
    if printed == 0:
        sys.exit(f"bench: no benchmark matches {arguments.filter}")


if __name__ == "__main__":
    main()
