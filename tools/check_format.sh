#!/usr/bin/env bash
# Fails when a tracked source file is not as clang-format would write it; with --fix it writes it so.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") mode=(--dry-run -Werror) ;;
  --fix) mode=(-i) ;;
  *)
    echo "usage: tools/check_format.sh [--fix]" >&2
    exit 2
    ;;
esac

# Outside git (a source archive) every source file counts. A file may be tracked and deleted, for now.
if git rev-parse --git-dir >/dev/null 2>&1; then
  mapfile -t listed < <(git ls-files '*.h' '*.cc')
else
  mapfile -t listed < <(find lrnn cli tests examples -name '*.h' -o -name '*.cc')
fi
files=()
for file in "${listed[@]}"; do
  [ ! -f "$file" ] || files+=("$file")
done
if [ "${#files[@]}" -eq 0 ]; then
  echo "check_format: no source files found" >&2
  exit 1
fi
if ! clang-format "${mode[@]}" "${files[@]}"; then
  echo "check_format: run \`make format\`" >&2
  exit 1
fi
