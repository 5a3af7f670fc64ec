#!/usr/bin/env bash
# Installs the Debian packages lrnn is built from, those that are missing only. Says nothing when nothing is missing.
#
# Each line of `commands` is a program and the package that has it: a program found on PATH is taken from wherever it
# comes. Headers and libraries are looked up as packages.
set -euo pipefail

commands="
g++           g++
cmake         cmake
ninja         ninja-build
make          make
python3       python3
git           git
clang-format  clang-format
chromium      chromium
fstcompile    libfst-tools
node          nodejs"
libraries=(libtorch-dev libopenblas0-openmp libhwy-dev libdnnl-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libfmt-dev libgtest-dev libgmock-dev libbenchmark-dev libgoogle-perftools-dev
  python3-torch python3-pip python3-setuptools python3-wheel)
# A build cannot start without these, whatever the system.
required=(g++ cmake ninja python3)

say() { printf 'setup: %s\n' "$*"; }
complain() { printf 'setup: %s\n' "$*" >&2; }

# Programs of `commands` that are not on PATH, as packages.
missing_commands() {
  local program package
  while read -r program package; do
    [ -z "$program" ] || command -v "$program" >/dev/null || echo "$package"
  done <<<"$commands"
}

# Packages of `libraries` that are not installed.
missing_libraries() {
  local installed package
  # dpkg-query fails for the packages it does not know and still lists the others.
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${libraries[@]}" 2>/dev/null || true)
  for package in "${libraries[@]}"; do
    grep -qx "$package installed" <<<"$installed" || echo "$package"
  done
}

# as_root COMMAND...: runs it with the rights of root, or fails.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    return 1
  fi
}

# install_packages PACKAGE...
install_packages() {
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    complain "missing packages, and neither root nor sudo to install them. As root, run:"
    complain "    apt-get install --no-install-recommends $*"
    complain "or go on without them: make SETUP=true <target>"
    exit 1
  fi
  local log
  log=$(mktemp "${TMPDIR:-/tmp}/lrnn-setup.XXXXXX.log")
  say "installing $* (log: $log)"
  # A list that cannot be renewed is no reason to give up: the one at hand may do.
  as_root apt-get update >"$log" 2>&1 || true
  if ! as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1; then
    tail -n 15 "$log" >&2
    complain "could not install the packages; the whole log: $log"
    exit 1
  fi
  rm -f "$log"
}

# Debian's reference BLAS is some 30 times slower than OpenBLAS, and torch takes whichever libblas.so.3 points to.
select_openblas() {
  local link library name fast
  # awk reads to the end: leaving early would end ldconfig, and with it this script, by a broken pipe.
  link=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p | awk '$1 == "libblas.so.3" && !found++ { print $NF }')
  [ -n "$link" ] || return 0
  library=$(readlink -f "$link")
  case "$library" in
    */blas/libblas.so*) ;;
    *) return 0 ;;
  esac
  fast=${library%/blas/*}/openblas-openmp/libblas.so.3
  name=libblas.so.3-$(basename "$(dirname "$link")")
  if as_root update-alternatives --set "$name" "$fast" >/dev/null 2>&1; then
    say "torch's BLAS (libblas.so.3) was the slow reference BLAS and is OpenBLAS now"
  else
    complain "warning: torch's BLAS is $library, some 30 times slower than OpenBLAS. As root, run:"
    complain "    update-alternatives --set $name $fast"
  fi
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  absent=""
  for program in "${required[@]}"; do
    command -v "$program" >/dev/null || absent+=" $program"
  done
  say "not a Debian system: nothing is installed. lrnn is built from what Debian 12 calls ${libraries[*]}"
  if [ -n "$absent" ]; then
    complain "programs not found:$absent"
    exit 1
  fi
  exit 0
fi

mapfile -t missing < <(missing_commands && missing_libraries)
if [ "${#missing[@]}" -gt 0 ]; then
  install_packages "${missing[@]}"
fi
# By itself and last: some packages of nodejs contain npm and exclude Debian's package of that name.
if ! command -v npm >/dev/null; then
  install_packages npm
fi
select_openblas
