# `make` alone lists the commands.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all lint types check docs bench clean

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

test: install  ## run the fast tests
	$(BIN)/pytest -m "not slow"

test-all: install  ## run all tests
	$(BIN)/pytest

lint: install  ## check style, formatting and import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: install  ## check types
	$(BIN)/mypy

check: lint types test-all  ## all that CI runs: lint, types, all tests

docs: install  ## build the documentation into build/site
	$(BIN)/pip install --quiet --group docs
	$(BIN)/sphinx-build --quiet --fail-on-warning docs build/site

bench: install  ## print the benchmark tables (ARGS=--quick for a short run)
	$(BIN)/pip install --quiet --group bench
	$(BIN)/python -m benchmarks $(ARGS)

clean:  ## remove what these commands made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist
