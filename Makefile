# Everything works from a bare machine with make and Python 3.11 or newer; `make help` lists it.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
# The interpreter itself, not a venv's or a shim, as the venv below comes and goes.
PYTHON_BASE := $(shell $(PYTHON) -c 'import sys; print(sys._base_executable)' 2>/dev/null)
VENV := .venv
BIN := $(VENV)/bin
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/$(VENV)
# The tests start hundreds of processes; without bytecode each compiles every module anew.
export PYTHONDONTWRITEBYTECODE :=
# The tests call `shoal` by its name, as a user does.
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Two stamps in the venv, named by content: the interpreter and the place (a venv can't be moved), and
# what is installed in it. A changed lock file syncs the venv, a changed interpreter makes it anew.
short = $(firstword $(shell { $(1); } 2>/dev/null | sha256sum | cut -c1-12))
HOME_KEY := $(call short,echo $(CURDIR); $(or $(PYTHON_BASE),true) -VV)
SYNC_KEY := $(call short,echo $(HOME_KEY); cat pyproject.toml uv.lock)
MADE := $(VENV)/.made-$(HOME_KEY)
SYNCED := $(VENV)/.synced-$(SYNC_KEY)
UV_VERSION = $(shell sed -n '/^name = "uv"$$/{n;s/version = "\(.*\)"/\1/p}' uv.lock)

FAST_TESTS := tests/test_house.py tests/test_docs.py tests/golden tests/observe $(wildcard tests/unit)
# Whose objects `make up` makes its cluster of.
DIALECT ?= slinky
# How many processes share the tests that only compute.
WORKERS ?= 2
GO_SOURCES := $(wildcard src/shoal/local/go)
# The Slurm of `make up`: 26.05, or SLURM=24.11.
SLURM ?= 26.05
BENCHES := $(patsubst bench/%.py,%,$(filter-out bench/__init__.py,$(wildcard bench/*.py)))

.PHONY: help
help: ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: check
check: lint test-fast ## Format, lint, types, import rules, unit and house tests: seconds

.PHONY: lint
lint: $(SYNCED)
	@ruff format --check .
	@ruff check .
	@mypy src docs deploy charts $(wildcard bench)
	@lint-imports --no-logo
ifneq ($(GO_SOURCES),)
	@PATH="$$PATH:/usr/local/go/bin"; if command -v gofmt >/dev/null; then \
	  unformatted=$$(gofmt -l $(GO_SOURCES)); \
	  [ -z "$$unformatted" ] || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }; \
	else echo "gofmt: not run, there is no Go here"; fi
endif

.PHONY: test-fast
test-fast: $(SYNCED) ## Only the tests that need no cluster
	@pytest -q -m 'not long' -n $(WORKERS) $(FAST_TESTS)

.PHONY: test
test: lint ## All of `check` and every test, on real clusters; SUITES="local slinky" for some; needs root
	@python tests/suites.py $(SUITES)

.PHONY: test-long
test-long: $(SYNCED) ## The longer proofs, those marked `long`; needs root
	@pytest --hypothesis-profile=random tests/unit
	@pytest -m long

.PHONY: test-gpu
test-gpu: $(SYNCED) ## Whether jobs get the GPUs of this machine; needs root, an NVIDIA driver and cgroup v2
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	for series in 26.05 24.11; do \
	  PYTHONPATH=tests python tests/gpu/pack.py $$series "$$folder/node.tar.xz"; \
	  tests/gpu/check.sh "$$folder/node.tar.xz"; \
	done

.PHONY: up
up: $(SYNCED) ## A real Kubernetes, a real Slurm on it (DIALECT=slinky or nebius), and a job run to COMPLETED; needs root
	@test -x "examples/$(DIALECT)/run" || { echo "DIALECT=$(DIALECT): it is slinky or nebius"; exit 1; }
	@shoal local up --images $(DIALECT)
	@eval "$$(shoal local env)"; examples/$(DIALECT)/run $(SLURM)

.PHONY: down
down: $(SYNCED) ## Take it down again and leave nothing behind
	@shoal local down

.PHONY: images
images: $(SYNCED) ## Build every image in images/
	@shoal local images

.PHONY: bench
bench: $(SYNCED) ## Run one benchmark, `make bench BENCH=name`; without a name, list them
ifeq ($(BENCH),)
	@$(if $(BENCHES),printf '%s\n' $(foreach b,$(BENCHES),'  make bench BENCH=$(b)'),echo "There is no benchmark yet.")
else
	@python -m bench.$(subst -,_,$(BENCH))
endif

.PHONY: golden
golden: $(SYNCED) ## Rewrite the golden files; read the diff before you commit it
	@pytest -q tests/golden --golden

.PHONY: generate
generate: $(SYNCED) ## Write the files that are made from others: docs/reference, deploy, charts
	@python docs/generate.py docs/reference
	@python deploy/generate.py deploy/crds
	@python charts/generate.py .
	@python -m deploy.observe.generate deploy/observe

.PHONY: verify
verify: $(SYNCED) ## Fail when a generated file or uv.lock is stale
	@uv lock --check --quiet
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	python docs/generate.py "$$scratch/reference"; \
	python deploy/generate.py "$$scratch/crds"; \
	diff -ru docs/reference "$$scratch/reference" || { echo "docs/reference is stale: run make generate"; exit 1; }; \
	diff -ru deploy/crds "$$scratch/crds" || { echo "deploy/crds is stale: run make generate"; exit 1; }; \
	python charts/generate.py "$$scratch"; \
	for folder in deploy/rbac charts/slurm-operator/files/rbac charts/{slurm-operator,slurm-operator-crds}/templates/crds; do \
	  diff -ru "$$folder" "$$scratch/$$folder" || { echo "$$folder is stale: run make generate"; exit 1; }; \
	done; \
	python -m deploy.observe.generate "$$scratch/observe"; \
	for folder in dashboards rules kubernetes; do \
	  diff -ru "deploy/observe/$$folder" "$$scratch/observe/$$folder" || { echo "deploy/observe/$$folder is stale: run make generate"; exit 1; }; \
	done

.PHONY: docs
docs: $(SYNCED) ## Check the documents: links, commands, snippets
	@pytest -q -m 'not long' tests/test_docs.py

$(MADE):
	@$(or $(PYTHON_BASE),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is missing or older than 3.11; name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON_BASE) -m venv $(VENV) >/dev/null 2>&1 || { \
	  echo "$(PYTHON) has no working venv module; installing python3-venv" >&2; \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -qqy python3-venv >/dev/null && \
	    $(PYTHON_BASE) -m venv --clear $(VENV); } || { \
	    echo "Install the venv module of $(PYTHON) (Debian: apt-get install python3-venv) and try again." >&2; \
	    rm -rf $(VENV); exit 1; }; }
	@touch $@

$(SYNCED): $(MADE)
	@echo "Preparing $(VENV)"
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv sync --frozen --quiet --compile-bytecode
	@rm -f $(VENV)/.synced-*; touch $@
