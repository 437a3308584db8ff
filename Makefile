# Every target sets up what it needs; only Python 3.11+ must be there already.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := retewave rete epsilon windows compiler viz bench tests examples

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-lowest coverage system-packages lint format docs dist bench bench-full turns \
        profile soak clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(VENV)/.run: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing retewave into $(VENV) (once)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "installing what tests, lint and benches need into $(VENV) (once)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,bench,viz,inspect,spark]'
	@touch $@

demo: $(VENV)/.run  ## run the social-media example of the Sparkwave paper and show its matches
	@sh examples/demo.sh $(BIN)/retewave

test: $(VENV)/.dev  ## all tests
	@sh tests/system_packages.sh
	$(BIN)/python -m pytest -n 2 --dist loadgroup

system-packages:  ## install the system programs that some tests drive (as root: Graphviz, a browser, Java, Valgrind)
	@sh tests/system_packages.sh install

test-long: $(VENV)/.dev  ## the property tests with ten times the cases
	RETEWAVE_CASES=10 $(BIN)/python -m pytest -n 2 --dist loadgroup

# The versions that pyproject.toml allows at the least, on this Python.
LOWEST := build/lowest
test-lowest: $(VENV)/.dev  ## all tests with the lowest versions that are allowed
	@test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	@$(BIN)/python -m uv pip install -q --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[dev,bench,viz,inspect,spark]'
	$(LOWEST)/bin/python -m pytest -n 2 --dist loadgroup

# Kernels are seen with the JIT off only. What pours many rows takes hours then, so the rooms above `compiler` are left out.
MEASURED_BY := tests/windows tests/epsilon tests/compiler tests/rete tests/io/test_sink_laws.py \
	$(addprefix tests/laws/test_, naive.py naive_distinct.py naive_laws.py engine_naive.py engine_time.py engine_rules.py engine_policies.py time_cuts.py time_lateness.py \
	engine_sequences.py sequences_endless.py engine_views.py) \
	$(addprefix tests/engine/test_, rules.py policies.py distinct_on.py sequences.py gathered.py) \
	$(addprefix tests/spark/test_shards, .py _explained.py _jobs.py _keys.py _rules.py _texts.py _views.py)
coverage: $(VENV)/.dev  ## which lines of windows, epsilon, compiler and rete the tests run: without the JIT, with few cases
	@rm -f build/.coverage*
	NUMBA_DISABLE_JIT=1 RETEWAVE_CASES=0.02 $(BIN)/python -m pytest -n 2 -m "not spark and not slow and not jit" \
		--cov --cov-report=term:skip-covered $(MEASURED_BY)

lint: $(VENV)/.dev  ## style and types
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	@sh tests/typecheck.sh $(BIN)/mypy

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff check --fix-only -q $(SOURCES)
	$(BIN)/ruff format -q $(SOURCES)

docs: $(VENV)/.dev  ## the documents as a site, in build/site
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir build/site

dist: $(VENV)/.dev  ## the wheel and the source distribution, checked, in dist/
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[release]'
	rm -rf dist build/lib
	$(BIN)/python -m build -q
	$(BIN)/python -m twine check --strict dist/*

bench: $(VENV)/.dev  ## the benchmark tables and plots (eight minutes or so)
	$(BIN)/python -m retewave.bench

bench-full: $(VENV)/.dev  ## every sweep of the benchmark (half an hour or more)
	$(BIN)/python -m retewave.bench --full

COMMIT ?= HEAD
turns: $(VENV)/.dev  ## these files and another commit by turns: make turns COMMIT=main~1
	$(BIN)/python -m retewave.bench.turns $(COMMIT)

profile: $(VENV)/.dev  ## where the time goes: reading, dictionary, dispatch, joins, collection, decoding
	$(BIN)/python -m retewave.bench.profile

soak: $(VENV)/.dev  ## 50 million triples with ever-new subjects: memory must stay flat
	$(BIN)/python -m retewave.bench.soak

clean:  ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .cache .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
