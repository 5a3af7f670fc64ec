#!/usr/bin/env bash
# tests/outside_project/run.sh BUILD [CMAKE_ARGUMENT...]: installs the build into a prefix of its own, then builds and
# runs the project of this folder against it. Everything lands in BUILD/outside_project.
set -euo pipefail

source=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
prefix=$build/outside_project/prefix

# quietly COMMAND...: its output matters only when it fails.
quietly() {
  local output
  if ! output=$("$@" 2>&1); then
    printf '%s\noutside_project: failed: %s\n' "$output" "$*" >&2
    exit 1
  fi
}

# build_and_run PROGRAM CMAKE_ARGUMENT...
build_and_run() {
  local folder=$build/outside_project/$1
  local program=$1
  shift
  quietly cmake -G Ninja -S "$source" -B "$folder" -DCMAKE_PREFIX_PATH="$prefix" "$@"
  quietly cmake --build "$folder"
  (cd "$folder" && "./$program")
}

# A fresh prefix: what is no longer installed must be missed.
rm -rf "$prefix"
quietly cmake --install "$build" --prefix "$prefix"
build_and_run outside "$@"
if [ -e "$prefix/lib/cmake/lrnn/lrnnTorchTargets.cmake" ]; then
  build_and_run outside_torch "$@" -DWITH_TORCH=ON
fi
if [ -e "$prefix/bin/lrnn" ]; then
  "$prefix/bin/lrnn" --version
fi
