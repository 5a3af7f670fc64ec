# The front door: `make help`. Each target installs what it lacks and builds what it needs; CMake does the work.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# `make SETUP=true <target>` leaves the system's packages alone.
SETUP ?= tools/setup.sh
CTEST_ARGS ?=
BENCH_ARGS ?=

.PHONY: help setup demo test bench release python asan scalar format clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## install the Debian packages that are missing
	@$(SETUP)

demo: setup  ## build, then train, compile and look at small models (minutes)
	@tools/build.sh release
	@tools/demo.sh

test: setup  ## build and run every test
	@tools/build.sh dev
	@ctest --preset dev $(CTEST_ARGS)

bench: setup  ## what the kernels reach of what the machine allows (single ones: BENCH_ARGS='--filter .')
	@tools/build.sh bench $(if $(BENCH_ARGS),,lrnn_performance)
	@tools/bench.py $(BENCH_ARGS)

release: setup  ## optimised build, installed in build/release/install
	@tools/build.sh release
	@rm -rf build/release/install
	@cmake --install build/release --prefix build/release/install > build/release/install.log \
	  || { tail -n 20 build/release/install.log; echo "release: failed; the whole log: build/release/install.log"; exit 1; } >&2
	@echo "release: build/release/install"

python: setup  ## build the Python package in build/release/python (docs/python.md)
	@tools/build.sh release lrnn_torch_ops
	@echo "python: PYTHONPATH=build/release/python $$(sed -n 's/^LRNN_PYTHON:FILEPATH=//p' build/release/CMakeCache.txt)"

asan: setup  ## build and run every test with the address and undefined behaviour sanitizers
	@tools/build.sh asan
	@ctest --preset asan $(CTEST_ARGS)

scalar: setup  ## build and run the tests that need no torch with kernels without SIMD
	@tools/build.sh scalar
	@ctest --preset scalar $(CTEST_ARGS)

format: setup  ## clang-format every source file
	@tools/check_format.sh --fix

clean:  ## remove build/ (runs/ stays)
	@rm -rf build
