# What people run. Everything behind a target is Python (`python -m ops`), a script in tools/, or a tool by its own name.
# Set-up is part of the first target that needs it: .venv is made from the lock, once, and again when the lock changes.

SHELL := /bin/bash
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

# The stack whose file is read, or another stack file, as in: make plan FILE=examples/eks-arc.yaml
STACK ?= staging
FILE ?=
# Any text, for `make plan` and `make preview` to print what holds as well, and the steps that led to every verdict.
WHY ?=
# Where `make kit` writes: the folder of the repository that is to use the runners.
OUT ?= out
# That repository, as owner/name, where gpu-ci:gpu-tests says something of several.
REPO ?=
# A checkout whose workflows `make workflows` looks at.
REPO_FOLDER ?= .
# How many processes run tests.
JOBS ?= 2
# For `make record-release`: the name of the release.
RELEASE ?=
# For `make lock`: --upgrade.
UPGRADE ?=

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gpu-ci
BIN := $(CACHE)/bin
PY := .venv/bin/python
OPS = $(PY) -m ops
WHICH = $(if $(FILE),--file '$(FILE)',--stack '$(or $(STACK),staging)')
PYTEST = $(PY) -m pytest
CODE := $(sort $(patsubst %/,%,$(dir $(wildcard */*.py)))) $(wildcard *.py)
SCRIPTS = $(shell git ls-files '*.sh' .ci/run)

export PATH := $(BIN):$(PATH)
# With PYTHONDONTWRITEBYTECODE, compiled files go to the cache instead of the sources.
ifneq ($(PYTHONDONTWRITEBYTECODE),)
export PYTHONPYCACHEPREFIX := $(CACHE)/bytecode
export PYTHONDONTWRITEBYTECODE :=
endif
# A value that is not known yet, put into a string, is a fault and not a sentence in a resource's name.
export PULUMI_ERROR_OUTPUT_STRING := 1
export PULUMI_SKIP_UPDATE_CHECK := true
# MkDocs Material speaks of its successor in every build.
export NO_MKDOCS_2_WARNING := 1

.PHONY: help
help: ## List these targets
	@printf 'make TARGET [STACK=staging] [FILE=path/to/a/stack/file.yaml]\n\n'
	@awk 'BEGIN {FS = ":[^#]*## "} /^[a-z-]+:[^=].*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Set-up -----------------------------------------------------------------------------------------------------------

# An environment without its interpreter, for example after an upgrade of the system, is created again.
ifeq ($(wildcard $(PY)),)
.venv/run .venv/dev: .FORCE
endif
ifeq ($(wildcard policy/.venv/bin/python),)
policy/.venv/run: .FORCE
endif
.PHONY: .FORCE
.FORCE:

.venv/run: requirements.txt tools/setup.sh
	@[ -x $(PY) ] && [ $@ -nt requirements.txt ] && [ $@ -nt tools/setup.sh ] || tools/setup.sh requirements.txt $@

.venv/dev: requirements-dev.txt tools/setup.sh
	@tools/setup.sh requirements-dev.txt $@
	@touch .venv/run # the second lock holds all that the first one does

# The policy pack has an environment of its own: pulumi-policy asks for an older protobuf than the program.
policy/.venv/run: requirements-policy.txt tools/setup.sh
	@tools/setup.sh requirements-policy.txt $@

# Look at a stack --------------------------------------------------------------------------------------------------

.PHONY: preview plan rehearse
preview: .venv/run ## Print the plan, then preview it with the real engine on fake clouds; needs no account
	@$(OPS) preview $(WHICH) $(if $(WHY),--why)

plan: .venv/run ## Print the plan alone: resources, verdicts, cost, findings
	@$(OPS) plan $(WHICH) $(if $(WHY),--why)

rehearse: .venv/run ## Rehearse the life of a stack on the real engine with fake clouds: up, a change, destroy
	@$(OPS) rehearse $(WHICH)

.PHONY: upgrade-check
upgrade-check: .venv/run ## Preview the program over the previous release's state of every stack, on fake clouds
	@$(OPS) upgrade-check

.PHONY: kit workflows
kit: .venv/run ## Write the files that a repository needs to use the runners, into OUT=out
	@$(OPS) kit $(WHICH) --out '$(OUT)'$(if $(REPO), --repo '$(REPO)')

workflows: .venv/run ## Hold the workflows of a checkout, REPO_FOLDER=., to the runners that the stack serves
	@$(OPS) workflows '$(REPO_FOLDER)' $(WHICH)

# Test -------------------------------------------------------------------------------------------------------------

.PHONY: test test-pure test-plan test-engine test-artefacts test-docs
test: .venv/dev policy/.venv/run cli ## Run every test, and say what each tier ran
	@$(PYTEST) -q -p tests.tiers -n $(JOBS) --dist loadfile

test-pure: .venv/dev ## Test values, knowledge and rendering
test-plan: .venv/dev ## Test the recorded plan of every stack file
test-engine: .venv/dev cli ## Test on the real Pulumi engine with fake clouds
test-artefacts: .venv/dev policy/.venv/run ## Test scripts, units, workflows and charts with their own linters
test-docs: .venv/dev cli ## Test the commands and the stack files that the documents show
test-pure test-plan test-engine test-artefacts test-docs:
	@$(PYTEST) -q -m $(@:test-%=%)

# Without a CLI, the tests that need one are skipped. In CI this is a failure.
.PHONY: cli
cli: .venv/run
	@$(PY) -m tools.pulumi_path > /dev/null || echo 'test: without it, what needs the engine is skipped' >&2

# Check ------------------------------------------------------------------------------------------------------------

.PHONY: check format
check: .venv/dev ## Check format, style, types, shell scripts, and that what is generated is up to date
	@$(PY) -m ruff format --check --quiet . || { echo 'check: run `make format`' >&2; exit 1; }
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy --strict --no-error-summary $(CODE)
	@$(PY) -m pyright --pythonpath $(PY) > .venv/pyright.log || { cat .venv/pyright.log >&2; exit 1; }
	@command -v shellcheck > /dev/null || { echo 'check: shellcheck is missing: run `make artefact-tools`' >&2; exit 3; }
	@shellcheck $(SCRIPTS)
	@$(OPS) schema --check
	@$(PY) -m tools.reference --check
	@echo 'check: good'

format: .venv/dev ## Format the code, and mend what can be mended
	@$(PY) -m ruff format --quiet .
	@$(PY) -m ruff check --quiet --fix .

# Generate ---------------------------------------------------------------------------------------------------------

.PHONY: schema golden reference chart-keys record-release docs lock
schema: .venv/run ## Write the stack file's JSON schema
	@$(OPS) schema

golden: .venv/run ## Write the golden files that tests compare with
	@$(OPS) golden

reference: .venv/run ## Write the generated parts of the reference pages
	@$(PY) -m tools.reference --write

chart-keys: .venv/run ## Write the lists of keys that the pinned charts read, from CHARTS=folder or with helm
	@$(PY) -m tools.chart_keys $(if $(CHARTS),--charts '$(CHARTS)')

record-release: .venv/run ## At a release: record the state of every stack for upgrade-check, as RELEASE=0.2.0
	@$(OPS) record-release '$(RELEASE)'

docs: .venv/dev ## Build the documentation into site/
	@$(PY) -m mkdocs build --strict

# The locks contain this command in their first lines, in the form that Renovate repeats.
LOCK = uv pip compile --quiet pyproject.toml --universal --python-version=3.11 --generate-hashes
lock: ## Resolve pyproject.toml into the locks, moving only what must (all of it with UPGRADE=--upgrade); needs uv
	@command -v uv > /dev/null || { echo 'lock: needs uv: https://docs.astral.sh/uv' >&2; exit 3; }
	@$(LOCK) $(UPGRADE) --output-file=requirements.txt > /dev/null
	@$(subst pyproject.toml,policy/requirements.txt,$(LOCK)) $(UPGRADE) --output-file=requirements-policy.txt > /dev/null
	@$(LOCK) $(UPGRADE) --group=dev --constraints=requirements.txt --output-file=requirements-dev.txt > /dev/null

# Machine ----------------------------------------------------------------------------------------------------------

.PHONY: artefact-tools pulumi clean
artefact-tools: ## Get the tools that are not Python packages: shellcheck, graphviz, systemd-analyze, actionlint
	@tools/artefact-tools.sh '$(BIN)'

pulumi: .venv/run ## Print the folder of a Pulumi CLI that fits the SDK, getting one where there is none
	@$(PY) -m tools.pulumi_path

clean: ## Remove what was made in this checkout; caches outside it stay
	@rm -rf .venv policy/.venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache site out
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
