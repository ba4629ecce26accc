# Everything below needs only Python 3.11 or newer and make; each target installs
# what it runs on into the virtual environment .venv, once.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# The CPU build of torch is a tenth of the size of the default one.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

# What pytest runs; nothing stands for all.
TESTS ?=

# A process for each core, but four at most: BLAS has threads in each of them.
PYTEST_FLAGS ?= -n auto --maxprocesses 4 --dist worksteal --durations 25

.DEFAULT_GOAL := help
.PHONY: help demo test torch oldest integrations lint format docs pages package bench dev clean

help:  ## Show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1 \t/p' $(MAKEFILE_LIST) | expand -t 22

# Idle threads of BLAS would slow down the short fits of scikit-learn.
demo docs: export OPENBLAS_NUM_THREADS ?= 1

demo: $(VENV)/.plot  ## Fit real data, compare with LogisticRegression, save demo.png
	MPLBACKEND=agg $(BIN)/python -c "from runpy import run_path; \
	    run_path('examples/demo.py')['figure'].savefig('demo.png', dpi=150)"
	@echo The picture is demo.png.

test: $(VENV)/.test  ## Run the whole test suite, with the examples in docstrings and docs
	$(BIN)/python -m pytest $(PYTEST_FLAGS) $(TESTS)

oldest:  ## Run the tests with the oldest dependencies, in .venv-oldest
	$(MAKE) test VENV=.venv-oldest PIP_FLAGS="--constraint .ci/oldest.txt"

integrations:  ## Run the tests with libraries that take any classifier, in their own venv
	$(MAKE) .venv-integrations/.integrations VENV=.venv-integrations
	.venv-integrations/bin/python -m pytest tests/test_other_libraries.py

torch: $(VENV)/.test-torch  ## Run the tests of arrays of other libraries with torch, too
	$(BIN)/python -m pytest $(PYTEST_FLAGS) tests/array_api

lint: $(VENV)/.lint  ## Check style, formatting, and types as users see them
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint  ## Put style and formatting right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs  ## Build the documentation in docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -n -b html docs docs/_build/html

package: $(VENV)-package/.tools  ## Build the package in dist/ and check it
	rm -rf dist
	$(VENV)-package/bin/python -m build --quiet --no-isolation
	$(VENV)-package/bin/python -m twine check --strict dist/*
	$(VENV)-package/bin/python .ci/check_package.py $(RELEASE)

pages: docs  ## Look at every page of the documentation in Chromium, without a network
	$(BIN)/python docs/check_pages.py docs/_build/html

bench: $(VENV)/.bench  ## Time the mappings beside the entmax package
	$(BIN)/python benchmarks/mappings.py

dev: $(VENV)/.dev  ## Install all that a developer needs, and the pre-commit hooks
	$(BIN)/pre-commit install

clean:  ## Remove the virtual environment and everything that was built
	rm -rf $(VENV) $(VENV)-package .venv-oldest .venv-integrations build dist
	rm -rf docs/_build docs/generated docs/auto_examples .pytest_cache .ruff_cache
	rm -rf .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp stands for an editable install with the extras that it is named after.
$(VENV)/.bench $(VENV)/.test-torch: PIP_FLAGS = --extra-index-url $(TORCH_INDEX)
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(PIP_FLAGS) -e ".[$(subst -,$(comma),$*)]"
	@touch $@

# What publishes the package is installed by hash, apart from everything else.
$(VENV)-package/.tools: .ci/package.txt
	$(PYTHON) -m venv $(VENV)-package
	$(VENV)-package/bin/python -m pip install --quiet --require-hashes -r $<
	@touch $@

comma := ,
