# Two commands: `make up` runs everything, `make test` checks everything. Both install what they need into .venv.
# Another Python than python3: make up PYTHON=python3.12. Options of `anamnesis up`: make up ARGS=--detach.

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
INPUTS := pyproject.toml .ci/requirements/embedders.txt .ci/requirements/constraints.txt
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help up down test bench lint format browser constraints clean
.DEFAULT_GOAL := help

help:
	@echo "make up      start database, API and console (Ctrl-C stops; make up ARGS=--detach leaves them running)"
	@echo "make down    stop them, and the embedded database"
	@echo "make test    check style, types, layers, and run all tests"
	@echo "make bench   speed, as ratios"
	@echo "make lint    style, types and layers alone; make format rewrites the style"
	@echo "make clean   remove .venv and caches; the state in var/ stays"

up: $(READY)
	@$(BIN)/anamnesis up $(ARGS)

down: $(READY)
	@$(BIN)/anamnesis down

test: lint browser
	$(BIN)/python -m pytest

# Speed as ratios within one run: not part of the tests, since a busy machine can spoil a figure.
bench: $(READY_DEV)
	$(BIN)/python -m pytest tests/benchmarks

lint: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY_DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The tests that drive a browser need one; `make up` does not.
browser: $(READY_DEV)
	@sh .ci/browser.sh

# Pins what a fresh environment gets without pins: .venv may hold what somebody tried out.
constraints:
	@set -e; fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PYTHON) -m venv "$$fresh"; \
	pip="$$fresh/bin/python -m pip --disable-pip-version-check"; \
	$$pip install --quiet --require-hashes --no-deps -r .ci/requirements/embedders.txt; \
	$$pip install --quiet -e '.[dev]'; \
	$$pip list --format=freeze --exclude-editable > "$$fresh/list"; \
	{ sed -n '/^#/p' .ci/requirements/constraints.txt; \
	  grep -viE '^(pip|setuptools|wheel)==' "$$fresh/list" | sort -f; \
	} > "$$fresh/constraints.txt"; \
	cat "$$fresh/constraints.txt" > .ci/requirements/constraints.txt

clean:
	rm -rf $(VENV) *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The stamp is written last and taken away first. Without it .venv is made anew: an installation that was
# interrupted can look whole to pip.
$(READY): $(INPUTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed. Name one: make up PYTHON=python3.12" >&2; exit 1; }
	@[ -f $(READY) ] || rm -rf $(VENV)
	@rm -f $(READY) $(READY_DEV)
	@[ -d $(VENV) ] || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make a virtual environment. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing into $(VENV) ..."
	@$(PIP) install --quiet --require-hashes --no-deps -r .ci/requirements/embedders.txt
	@$(PIP) install --quiet -c .ci/requirements/constraints.txt -e .
	@touch $(READY)

$(READY_DEV): $(READY)
	@rm -f $(READY)
	@echo "Installing what the tests need ..."
	@$(PIP) install --quiet -c .ci/requirements/constraints.txt -e '.[dev]'
	@touch $(READY)
	@touch $(READY_DEV)
