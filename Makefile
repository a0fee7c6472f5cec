# Every target sets up what it needs first.
PYTHON = .venv/bin/python
export PYTHONPATH = src
# Containers often set it: then every start would compile every library.
export PYTHONDONTWRITEBYTECODE =
SHELL_SCRIPTS = rowpath .ci/run $(wildcard scripts/*.sh runners/*/*.sh)
WORKFLOWS = $(wildcard .github/workflows/*.yml)
PYTHON_SOURCES = $(wildcard src tests bench scripts runners/python runners/example runners/*/toolchain.py .github/actions)
# Four on two cores, because tests wait for servers and clocks; long files first, so that short ones fill the end.
SIDE_BY_SIDE = scripts/beside.sh $(PYTHON) -n 4 --dist loadscope --no-loadscope-reorder
# Clusters must answer in time: they are side by side with each other only.
HOSTS = $(SIDE_BY_SIDE) tests/hosts --ignore=$(FLOOR) --and-before
# What must have the cores to itself: what measures. Of the tests of hosts that is one file.
FLOOR = tests/hosts/test_floor.py
MEASURING = $(PYTHON) -m pytest tests/measuring $(FLOOR) --and-before
BESIDE = --ignore=tests/measuring --ignore=tests/hosts
# What passed in just this form is left out; with AGAIN=--again=N all but the N-th seventh of it, whose adapters meet
# every case on every path.
CHANGED = --changed-only $(AGAIN)

.PHONY: run test test-fast test-all test-changed fuzz check bench wheel docs docs-site docs-results setup lock clean help

run: ## run the experiment `tour`
	@./rowpath run tour

test: setup ## every adapter, engine and command: side by side, then hosts, then what measures
	@$(SIDE_BY_SIDE) $(BESIDE) $(CHANGED)
	@$(HOSTS) $(CHANGED)
	@$(MEASURING) $(CHANGED)

test-fast: setup ## the pure tests, one minute: no compiler, no server, no runner
	@$(SIDE_BY_SIDE) tests/unit tests/order tests/golden tests/fuzz/test_texts.py

test-all: setup ## as test, with every case on every path
	@$(SIDE_BY_SIDE) $(BESIDE) --full
	@$(HOSTS) --full
	@$(MEASURING) --full

test-changed: setup ## every case on every path of the adapters that changed since they last passed
	@$(SIDE_BY_SIDE) tests/conformance --full $(CHANGED)

fuzz: setup ## ten minutes of fresh texts, in connection strings, parameters and queries
	@ROWPATH_FUZZ_S=28 $(PYTHON) -m pytest -q tests/fuzz

check: setup ## formatters, linters, types, compilers' warnings
	$(PYTHON) -m ruff format --check $(PYTHON_SOURCES)
	$(PYTHON) -m ruff check $(PYTHON_SOURCES)
	$(PYTHON) -m mypy
	@for check in runners/*/check.sh; do echo "sh $$check"; sh $$check || exit 1; done
	.venv/bin/shellcheck $(SHELL_SCRIPTS)
	go -C .ci/actionlint tool actionlint -shellcheck=$(abspath .venv/bin/shellcheck) $(abspath $(WORKFLOWS))

bench: setup ## the figures that Rowpath itself must reach
	@$(PYTHON) -m bench

wheel: setup ## the wheel with the C runner compiled in it, in dist/ (needs cargo)
	@$(PYTHON) scripts/build_wheel.py

docs: setup ## renew the generated blocks of the documents, completions and the manual page
	@$(PYTHON) scripts/docs_tables.py
	@$(PYTHON) scripts/shell_files.py

docs-results: setup ## measure again what tutorials, questions, tables and the picture show: an hour and a half, quiet
	@$(PYTHON) scripts/docs_results.py

docs-site: setup ## the documents as a site, in build/docs-site
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict --quiet
	@echo build/docs-site/index.html

setup: ## the environment that the other targets need
	@scripts/setup.sh requirements.lock dev-requirements.lock docs-requirements.lock apart-requirements.lock

LOCK = uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate --no-emit-index-url \
	--no-emit-find-links --custom-compile-command 'make lock' --upgrade pyproject.toml

lock: ## newest versions into the lock files (needs uv)
	$(LOCK) -o requirements.lock
	$(LOCK) --constraints requirements.lock --group dev -o dev-requirements.lock
	$(filter-out pyproject.toml,$(LOCK)) --constraints dev-requirements.lock --group docs -o docs-requirements.lock
	echo opentelemetry-proto | $(filter-out pyproject.toml,$(LOCK)) - -o apart-requirements.lock
	echo ray==2.60.0 | $(filter-out pyproject.toml,$(LOCK)) - -o src/rowpath/hosts/requirements.lock

clean: ## remove what was made here (not the cache: rm -r ~/.cache/rowpath)
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14
