# Every target sets up what it needs first.
PYTHON = .venv/bin/python
export PYTHONPATH = src
SHELL_SCRIPTS = rowpath .ci/run $(wildcard scripts/*.sh runners/*/*.sh)
PYTHON_SOURCES = $(wildcard src tests bench runners/python)
C_SOURCES = $(shell find runners/c -name '*.[ch]')

.PHONY: run test check bench setup lock clean help

run: ## run the experiment `tour`
	@./rowpath run tour

test: setup ## all tests
	@$(PYTHON) -m pytest

check: setup ## formatters, linters, types, compilers' warnings
	$(PYTHON) -m ruff format --check $(PYTHON_SOURCES)
	$(PYTHON) -m ruff check $(PYTHON_SOURCES)
	$(PYTHON) -m mypy
	.venv/bin/clang-format --dry-run -Werror $(C_SOURCES)
	scripts/check-c.sh
	sh runners/java/check.sh
	sh runners/csharp/check.sh
	.venv/bin/shellcheck $(SHELL_SCRIPTS)

bench: setup ## the figures that Rowpath itself must reach
	@$(PYTHON) -m bench

setup: ## the environment that the other targets need
	@scripts/setup.sh requirements.lock dev-requirements.lock

LOCK = uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate --no-emit-index-url \
	--no-emit-find-links --custom-compile-command 'make lock' --upgrade pyproject.toml

lock: ## newest versions into the lock files (needs uv)
	$(LOCK) -o requirements.lock
	$(LOCK) --constraints requirements.lock --group dev -o dev-requirements.lock

clean: ## remove what was made here (not the cache: rm -r ~/.cache/rowpath)
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12
