# Each target sets up its own environment: a fresh machine needs Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
PYTEST := $(RUN) -m pytest
EXTRAS ?= dev,cli,plot,images,demo,dask,io

.PHONY: setup demo lint test test-all test-oldest accept clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "altmin needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade pip
	$(RUN) -m pip install --quiet --editable ".[$(EXTRAS)]"
	@touch $@

## demo: the main job on data inside pip packages; writes pictures and says where
demo: setup
	$(RUN) -m altmin.experiments.demo --out demo

## lint: style, types, layers
lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

## test: lint, and every test that isn't slow
test: lint
	$(PYTEST) -q -n 2 -m "not slow"

## test-all: the slow tests too
test-all: lint
	$(PYTEST) -q -n 2

## test-oldest: the fast tests with the oldest dependencies that pyproject.toml declares
test-oldest: $(VENV)-oldest/.ready
	$(VENV)-oldest/bin/python -m pytest -q -n 2 -m "not slow"

$(VENV)-oldest/.ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-oldest/bin/python -m pip install --quiet --editable ".[$(EXTRAS)]" --constraint constraints-oldest.txt
	@touch $@

## accept: every measurable promise as a script; figures into acceptance/figures.json
accept: setup
	$(RUN) acceptance/run.py $(ONLY)

clean:
	rm -rf $(VENV) $(VENV)-oldest demo .mypy_cache .ruff_cache .import_linter_cache dist
