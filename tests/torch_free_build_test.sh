#!/usr/bin/env bash
# tests/torch_free_build_test.sh SOURCE FOLDER [CMAKE_ARGUMENT...]: builds the program `lrnn` without torch in FOLDER,
# which stays for the next time, and asserts that it runs and that no library of torch is linked.
set -euo pipefail

source=$1
folder=$2
shift 2

fail() {
  printf 'torch_free_build: %s\n' "$*" >&2
  exit 1
}

mkdir -p "$folder"
log=$folder/log.txt
{
  cmake -G Ninja -S "$source" -B "$folder" -DLRNN_TORCH=OFF -DLRNN_TESTS=OFF -DLRNN_BENCHMARKS=OFF "$@" &&
    cmake --build "$folder" --target lrnn --parallel "$(nproc)"
} >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  fail "the build failed; the whole log: $log"
}

libraries=$(ldd "$folder/bin/lrnn")
if grep -E 'libtorch|libc10' <<<"$libraries" >&2; then
  fail "lrnn built with LRNN_TORCH=OFF is linked to torch"
fi
"$folder/bin/lrnn" --version || fail "lrnn --version failed"
