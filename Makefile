# Each target sets up its own environment: a fresh machine needs Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
# Two workers have a core each: threads of BLAS would only stand in each other's way. A worker begins with half of
# the tests, so that what a module shares is mostly made once, and takes from the other's when it is done.
PYTEST := OMP_NUM_THREADS=1 $(RUN) -m pytest
EXTRAS ?= dev,cli,plot,images,demo,dask,io

.PHONY: bench chromium regress reproduce setup demo lint test test-all test-seeds test-oldest accept calibrate mutate docs clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml lab/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "altmin needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade pip
	$(RUN) -m pip install --quiet --editable ".[$(EXTRAS)]" --editable lab
	@touch $@

## demo: the main job on data inside pip packages; writes pictures and says where
demo: setup
	$(BIN)/altmin demo --out demo

## lint: style, types, layers
lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(RUN) tests/check_tests.py

# Pages are tested in the machine's own Chromium: installed where apt can, and skipped with a reason elsewhere.
chromium:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
		{ test "$$(id -u)" = 0 && command -v apt-get > /dev/null && apt-get install -y -qq chromium > /dev/null 2>&1; } || \
		echo "there is no Chromium, and apt can't install it here: the tests in a browser will be skipped"

## test: lint, and every test that isn't slow
test: lint chromium
	$(PYTEST) -q -n 2 --dist worksteal -m "not slow"

## test-all: the slow tests too, and recovery on five seeds
test-all: lint chromium
	$(PYTEST) -q -n 2 --dist worksteal --seeds 5

## test-seeds: recovery on five fresh seeds from SEED=... on; without it on new ones each time, for the night
test-seeds: SEED ?= $(shell od -An -N3 -tu4 /dev/urandom | tr -d ' ')
test-seeds: setup
	@echo "seeds from $(SEED) on"
	$(PYTEST) -q -n 2 --dist worksteal -m seeds --seeds 5 --first-seed $(SEED) tests

## test-oldest: the fast tests with the oldest dependencies that pyproject.toml declares
test-oldest: $(VENV)-oldest/.ready
	OMP_NUM_THREADS=1 $(VENV)-oldest/bin/python -m pytest -q -n 2 --dist worksteal -m "not slow"

$(VENV)-oldest/.ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-oldest/bin/python -m pip install --quiet --editable ".[$(EXTRAS)]" --editable lab --constraint constraints-oldest.txt
	@touch $@

## reproduce: every theorem, figure and table of the papers as a claim, judged; goes on where it was stopped
reproduce: setup
	$(BIN)/altmin-lab reproduce --out reproduction

## accept: every measurable promise as a script; figures into lab/acceptance/figures.json
accept: setup
	$(BIN)/altmin-lab accept $(ONLY)

## docs: the documentation with its gallery into docs/_build/html; warnings are errors, links inside are checked
docs: $(VENV)/.docs-ready docs/_static/mathjax/tex-chtml-full.js
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(RUN) docs/check_links.py docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

$(VENV)/.docs-ready: $(VENV)/.ready
	$(RUN) -m pip install --quiet --editable ".[$(EXTRAS),docs]"
	@touch $@

# Pages load MathJax from their own folder. Without npm: MATHJAX=/path/to/mathjax/es5 make docs
MATHJAX ?= docs/_build/npm/node_modules/mathjax/es5
docs/_static/mathjax/tex-chtml-full.js:
	@test -d $(MATHJAX) || command -v npm > /dev/null || \
		{ echo "mathematics needs MathJax 3: install npm, or set MATHJAX to the folder es5 of a copy"; exit 1; }
	test -d $(MATHJAX) || npm install --silent --no-audit --no-fund --prefix docs/_build/npm mathjax@3.2.2
	mkdir -p docs/_static/mathjax/output/chtml
	cp -r $(MATHJAX)/output/chtml/fonts docs/_static/mathjax/output/chtml/
	cp $(MATHJAX)/tex-chtml-full.js $@

## calibrate: the guarantee's truth table; runs what is missing of the last judged round, renews docs/calibration
calibrate: setup
	OMP_NUM_THREADS=1 $(BIN)/altmin-lab calibrate

## mutate: plant N plausible bugs (SEED=...) and see whether the tests notice; goes on where it was stopped
mutate: setup
	$(BIN)/altmin-lab mutate --count $(or $(N),100) --seed $(or $(SEED),0) --page docs/mutation.md

## bench: side by side with other libraries, then docs/benchmarks.md; QUICK=1: a few minutes
bench: setup
	-$(RUN) -m pip install --quiet --editable "lab[peers]"
	OMP_NUM_THREADS=1 $(BIN)/altmin-lab bench --out lab/benchmarks/results $(if $(QUICK),--quick)
	$(RUN) lab/benchmarks/page.py

## regress: time, peak memory, share of GEMM and growth of our own code (lab/benchmarks/README.md)
regress: setup
	$(RUN) -m pip install --quiet asv
	cd lab/benchmarks/asv && $(abspath $(BIN))/asv machine --yes
	cd lab/benchmarks/asv && OMP_NUM_THREADS=1 $(abspath $(BIN))/asv run --python=same --quick --show-stderr

clean:
	rm -rf docs/_build docs/_static/mathjax docs/gallery docs/api/generated docs/api/backreferences
	rm -rf $(VENV) $(VENV)-oldest demo .mypy_cache .ruff_cache .import_linter_cache dist
