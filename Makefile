# make read   the environment, then the main job on the embedded default
# make test   the environment, then every test
# make lint   style, types and the layers' contracts
# make bench  what recording costs, against the budgets
# make lock   resolve requirements.lock anew
# make clean  take away all that was made

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.made

.PHONY: read test lint bench lock clean

read: $(STAMP)
	$(BIN)/stillframe read llama

test: $(STAMP)
	$(BIN)/python -m pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# The stamp comes last, so that an environment made half-way is made again.
$(STAMP): requirements.lock requirements-smollm2.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "stillframe needs Python 3.11 or newer, and $(PYTHON) is older: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps -r requirements-smollm2.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

# torch is named first and exactly: left to the extras, the newest would come.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet torch==2.13.0
	build/lock/bin/python -m pip install --quiet '.[models,smollm2,dev]'
	{ echo '# Made by `make lock`: all that [models,smollm2,dev] needs, on Python 3.11. No hashes, as CPU and CUDA builds of torch differ.'; \
	  build/lock/bin/python -m pip freeze --all --exclude pip --exclude stillframe | sed 's/+cpu$$//'; } > requirements.lock

clean:
	rm -rf $(VENV) build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
