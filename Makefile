# Everything below needs only Python 3.11 or newer and make; each target installs
# what it runs on into the virtual environment .venv, once.

# Windows has other names, and a shell of Git runs the recipes.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
SCRIPTS := Scripts
else
PYTHON ?= python3
SCRIPTS := bin
endif
VENV ?= .venv
BIN := $(VENV)/$(SCRIPTS)

# The CPU build of torch is a tenth of the size of the default one.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

# Wheels of the development versions of scikit-learn and others.
NIGHTLY_INDEX ?= https://pypi.anaconda.org/scientific-python-nightly-wheels/simple

# What pytest runs; nothing stands for all.
TESTS ?=

# A process for each core, but four at most: BLAS has threads in each of them.
PYTEST_FLAGS ?= -n auto --maxprocesses 4 --dist worksteal --durations 25

.DEFAULT_GOAL := help
.PHONY: help demo test coverage torch oldest nightly integrations lint format docs site \
    pages package release-check bench dev clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 \t/p' $(MAKEFILE_LIST) | expand -t 22

# Compiled files are kept, whatever the shell says: without them each process compiles
# all tests again, which takes half of the time in which they are collected.
unexport PYTHONDONTWRITEBYTECODE

# Idle threads of BLAS slow down short fits, and the tests have a process for each core.
demo docs test coverage: export OPENBLAS_NUM_THREADS ?= 1

demo: $(VENV)/.plot  ## Fit real data, compare with LogisticRegression, save demo.png
	MPLBACKEND=agg $(BIN)/python -c "from runpy import run_path; \
	    run_path('examples/demo.py')['figure'].savefig('demo.png', dpi=150)"
	@echo The picture is demo.png.

test: $(VENV)/.test  ## Run the whole test suite, with the examples in docstrings and docs
	$(BIN)/python -m pytest $(PYTEST_FLAGS) $(TESTS)

coverage: $(VENV)/.coverage  ## Run all tests, and show the lines and branches that they miss
	$(BIN)/python -m pytest $(PYTEST_FLAGS) --cov --cov-report=term-missing:skip-covered

oldest:  ## Run the tests with the oldest dependencies, in .venv-oldest
	$(MAKE) test VENV=.venv-oldest PIP_FLAGS="--constraint .ci/oldest.txt"

nightly:  ## Run the tests with scikit-learn of last night, in .venv-nightly
	$(MAKE) .venv-nightly/.test VENV=.venv-nightly
	.venv-nightly/$(SCRIPTS)/python -m pip install --quiet --upgrade --pre --no-deps \
	    --only-binary :all: --index-url $(NIGHTLY_INDEX) scikit-learn
	.venv-nightly/$(SCRIPTS)/python -m pytest $(PYTEST_FLAGS) $(TESTS)

integrations:  ## Run the tests with libraries that take any classifier, in their own venv
	$(MAKE) .venv-integrations/.integrations VENV=.venv-integrations
	.venv-integrations/$(SCRIPTS)/python -m pytest tests/test_other_libraries.py \
	    tests/inspection/coefficients tests/decision/conformal/test_mapie.py

# The cases of the other library are part of `make test`, and torch changes none of them.
torch: $(VENV)/.test-torch  ## Run the tests of arrays of other libraries with torch
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -k "not array_api_strict" tests/array_api \
	    docs/user_guide/gpu.rst

lint: $(VENV)/.lint  ## Check style, formatting, and types as users see them
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint  ## Put style and formatting right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# All pages are written again (-a): a search index of Sphinx loses
# the index entries of pages that are not written.
docs: $(VENV)/.docs  ## Build the documentation in docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -n -a -j auto -b html docs docs/_build/html

package: $(VENV)-package/.tools  ## Build the package in dist/ and check it
	rm -rf dist
	$(VENV)-package/$(SCRIPTS)/python -m build --quiet --no-isolation
	$(VENV)-package/$(SCRIPTS)/python -m twine check --strict dist/*
	$(VENV)-package/$(SCRIPTS)/python .ci/check_package.py $(RELEASE)

site:  ## Build the documentation of all versions in docs/_build/site
	$(PYTHON) .ci/build_site.py

# The version is checked last, so that the rest can be tried before its date is set.
release-check: package docs $(VENV)/.test  ## Do all of a release but the upload
	rm -rf .venv-release
	$(PYTHON) -m venv .venv-release
	.venv-release/$(SCRIPTS)/python -m pip install --quiet dist/*.whl
	.venv-release/$(SCRIPTS)/python -P .ci/check_installed.py
	$(BIN)/python -m pytest -q tests/test_readme.py tests/test_pages.py tests/test_project.py
	$(BIN)/python .ci/check_release.py

pages: docs  ## Look at every page of the documentation in Chromium, without a network
	$(BIN)/python docs/check_pages.py docs/_build/html

bench: $(VENV)/.bench  ## Time the mappings beside the entmax package
	$(BIN)/python benchmarks/mappings.py

dev: $(VENV)/.dev  ## Install all that a developer needs, and the pre-commit hooks
	$(BIN)/pre-commit install

clean:  ## Remove the virtual environment and everything that was built
	rm -rf $(VENV) $(VENV)-package .venv-oldest .venv-nightly .venv-integrations
	rm -rf .venv-release build dist .coverage
	rm -rf docs/_build docs/generated docs/auto_examples .pytest_cache .ruff_cache
	rm -rf .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A new pip takes half of the time of the one that Python 3.11 brings, and is installed by
# that of $(PYTHON) if it has one.
$(BIN)/python:
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --python $(VENV) install --quiet pip || $(BIN)/python -m ensurepip

# A stamp stands for an editable install with the extras that it is named after. Files
# are compiled when they are imported: most never are, and all of them take a minute.
$(VENV)/.bench $(VENV)/.test-torch: PIP_FLAGS = --extra-index-url $(TORCH_INDEX)
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile $(PIP_FLAGS) -e ".[$(subst -,$(comma),$*)]"
	@touch $@

# What publishes the package is installed by hash, apart from everything else.
$(VENV)-package/.tools: .ci/package.txt
	$(PYTHON) -m venv $(VENV)-package
	$(VENV)-package/$(SCRIPTS)/python -m pip install --quiet --require-hashes -r $<
	@touch $@

comma := ,
