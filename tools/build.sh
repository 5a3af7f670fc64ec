#!/usr/bin/env bash
# tools/build.sh PRESET [TARGET...]: configures build/PRESET once and builds it, with a line per phase.
#
# The whole output is in build/PRESET/configure.log and build.log; the terminal gets the compiler's progress as one
# line that renews itself (elsewhere: a line per tenth), and every other line as it is: warnings, errors.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
folder=build/$preset
mkdir -p "$folder"

fail() {
  printf 'build: %s failed; the whole log: %s\n' "$1" "$2" >&2
  exit 1
}

# A file that includes torch takes up to 2 GB to compile.
jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
  local fit=$((gigabytes / 2 > 1 ? gigabytes / 2 : 1))
  echo $((cores < fit ? cores : fit))
}

# Lines such as "[12/340] Building CXX object ..." are progress; all others pass.
show_progress() {
  local line tenth last=0 pattern='^\[([0-9]+)/([0-9]+)\] (.*)$'
  while IFS= read -r line; do
    if ! [[ $line =~ $pattern ]]; then
      if [ -n "$line" ] && [ "$line" != "ninja: no work to do." ]; then
        [ ! -t 1 ] || printf '\r\033[K'
        printf '%s\n' "$line"
      fi
    elif [ -t 1 ]; then
      printf '\r\033[K%.*s' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "$line"
    else
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      [ "$tenth" -eq "$last" ] || printf 'build: %s of %s steps\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
      last=$tenth
    fi
  done
  [ ! -t 1 ] || printf '\r\033[K'
}

if [ ! -e "$folder/build.ninja" ] || [ CMakePresets.json -nt "$folder/build.ninja" ]; then
  printf 'build: configuring %s\n' "$folder"
  if ! cmake --preset "$preset" >"$folder/configure.log" 2>&1; then
    tail -n 30 "$folder/configure.log" >&2
    fail configuring "$folder/configure.log"
  fi
fi

start=$SECONDS
cmake --build "$folder" --parallel "$(jobs)" ${1:+--target "$@"} 2>&1 | tee "$folder/build.log" | show_progress ||
  fail compiling "$folder/build.log"
printf 'build: %s is up to date (%d s)\n' "$folder" $((SECONDS - start))
