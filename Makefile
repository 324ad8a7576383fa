# `make` alone lists the commands.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
WARM := .venv/.warm
SOURCES := $(shell find src -name '*.py')

# Two workers, each with one thread; WORKERS=0 runs the tests in one process, with all threads.
WORKERS ?= 2
PYTEST := $(BIN)/pytest -n $(WORKERS)
SECONDS ?= 60
RUN ?= 1
SITE ?= build/site
SEED ?= 0
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
TIERS := slow or paper or browser or kill or large or gallery or compiled

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all test-targets lint types check fuzz warm wheel browser docs paper bench clean

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(READY)  ## make .venv and install isosne with all extras

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --editable ".[all]" --group dev
	@touch $(READY)

demo: install  ## draw the first maps; writes demo.png
	$(BIN)/python examples/demo.py demo.png

test: install warm  ## run the fast tests
	$(PYTEST) -m "not ($(TIERS))"

test-all: install warm browser  ## run all tests; those of pages alone, as they wait for a browser
	$(BIN)/pytest -m browser
	$(PYTEST) -m "not browser"

test-targets: install warm  ## gradients compiled for another CPU; digests and kernel bits do so in test-all
	NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES= $(PYTEST) tests/gradients

lint: install  ## check style, formatting and import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: install  ## check types
	$(BIN)/mypy

check: install  ## all that CI runs: lint, types, all tests (with the examples), documentation
	$(MAKE) --jobs 2 lint types warm
	$(MAKE) --jobs 2 docs test-targets RUN=0
	$(MAKE) test-all

fuzz: install  ## try strange input for a time (SECONDS=600 SEED=3; long runs find more)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED)

warm: $(WARM)  ## compile every loop once, before tests run side by side

$(WARM): $(READY) $(SOURCES)
	$(BIN)/isosne warm
	$(BIN)/python -m tests.contract.every_loop  # what only tests call
	@touch $(WARM)

wheel: install  ## build a wheel for this platform, with loops compiled for this Python and Numba
	$(BIN)/python packaging/pack.py build/packs
	ISOSNE_PACKS=build/packs $(BIN)/python -m build --wheel --no-isolation

browser:  ## install Chromium and its driver, which the tests of pages need (by apt-get)
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	{ $(AS_ROOT) apt-get update -qq && $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive \
	apt-get install -y -qq chromium chromium-driver; }

docs: install  ## run the examples and build the documentation into build/site (RUN=0: without running them; SITE=folder)
	$(BIN)/sphinx-build --quiet --fail-on-warning --jobs 2 -D plot_gallery=$(RUN) docs $(SITE)

paper: install  ## reproduce the paper's tables and figures (ARGS=--help)
	$(BIN)/python -m benchmarks.paper $(ARGS)

bench: install  ## print the benchmark tables (ARGS=--quick for a short run)
	$(BIN)/pip install --quiet --group bench
	$(BIN)/python -m benchmarks $(ARGS)

clean:  ## remove what these commands made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist \
	docs/api docs/gallery
