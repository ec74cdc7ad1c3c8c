# The commands of the project. Each target runs Python (`python -m ops`), a script in tools/, or a tool directly.
# A target that needs .venv creates it from the lock file, and updates it when the lock file changes.

SHELL := /bin/bash
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

# The name of the stack, or the path of another stack file: make plan FILE=examples/eks-arc.yaml
STACK ?= staging
FILE ?=
# If set, `make plan` and `make preview` also print passed checks and the steps of every verdict.
WHY ?=
# The output folder of `make kit`: the checkout of the repository that uses the runners.
OUT ?= out
# The owner/name of that repository, if gpu-ci:gpu-tests configures several.
REPO ?=
# If set, `make kit` overwrites files that other people changed.
FORCE ?=
# The pool that `make smoke` tests; without it, all of them.
POOL ?=
# The checkout with the workflows that `make workflows` checks.
REPO_FOLDER ?= .
# Labels and groups of runners outside the stack that its workflows may use: ALSO=ubuntu-16-cores,windows-gpu
ALSO ?=
# For `make doctor`: one check, the log of a job, the bundle to write, and the bundle to read instead of the clouds.
ONLY ?=
LOG ?=
BUNDLE ?=
OFFLINE ?=
# The number of test processes.
JOBS ?= 2
# For `make test-image`: the image, its CUDA version and its target, and the number of GPUs that must respond.
IMAGE ?=
CUDA ?=
TARGET ?= runtime
GPUS ?=
# For `make record-release`: the name of the release.
RELEASE ?=
# For `make lock`: --upgrade to update all packages.
UPGRADE ?=
# For `make chart-keys`: the folder with the unpacked charts.
CHARTS ?=
# For `make replacement-table`: the folder with the schemas of the providers.
SCHEMAS ?=

# The values are data: neither make nor a shell expands them. Recipes read them from the environment, as in "$$FILE".
GIVEN := IMAGE CUDA TARGET GPUS STACK FILE OUT REPO REPO_FOLDER ALSO ONLY LOG BUNDLE OFFLINE JOBS RELEASE CHARTS SCHEMAS UPGRADE POOL
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name))))
export $(GIVEN)

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gpu-ci
BIN := $(CACHE)/bin
PY := .venv/bin/python
OPS = $(PY) -m ops
WHICH = $(if $(FILE),--file "$$FILE",--stack "$${STACK:-staging}")
PYTEST = $(PY) -m pytest
CODE := $(sort $(patsubst %/,%,$(dir $(wildcard */*.py)))) $(wildcard *.py)
SCRIPTS = $(shell git ls-files '*.sh' .ci/run)

export PATH := $(BIN):$(PATH)
# With PYTHONDONTWRITEBYTECODE, compiled files go to the cache instead of the sources.
ifneq ($(PYTHONDONTWRITEBYTECODE),)
export PYTHONPYCACHEPREFIX := $(CACHE)/bytecode
export PYTHONDONTWRITEBYTECODE :=
endif
# Fail if an unknown value is formatted into a string, instead of putting an error text into a resource name.
export PULUMI_ERROR_OUTPUT_STRING := 1
export PULUMI_SKIP_UPDATE_CHECK := true
# Hide the notice of MkDocs Material about its successor.
export NO_MKDOCS_2_WARNING := 1

.PHONY: help
help: ## List these targets
	@printf 'make TARGET [STACK=staging] [FILE=path/to/a/stack/file.yaml]\n\n'
	@awk 'BEGIN {FS = ":[^#]*## "} /^[a-z-]+:[^=].*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Set-up -----------------------------------------------------------------------------------------------------------

# An environment whose interpreter does not start, for example after an upgrade of the system, is created again.
broken = $(shell $(1) -SE -c '' > /dev/null 2>&1 || echo broken)
ifneq ($(call broken,$(PY)),)
.venv/run .venv/dev .venv/doctor: .FORCE
endif
ifneq ($(call broken,gpu_ci/policy/.venv/bin/python),)
gpu_ci/policy/.venv/run: .FORCE
endif
.PHONY: .FORCE
.FORCE:

.venv/run: requirements.txt tools/setup.sh
	@$(PY) -SE -c '' 2> /dev/null && [ $@ -nt requirements.txt ] && [ $@ -nt tools/setup.sh ] || tools/setup.sh requirements.txt $@

.venv/dev: requirements/dev.txt tools/setup.sh
	@tools/setup.sh requirements/dev.txt $@
	@touch .venv/run .venv/doctor # requirements/dev.txt includes all of both

.venv/doctor: requirements/doctor.txt tools/setup.sh
	@tools/setup.sh requirements/doctor.txt $@
	@touch .venv/run # requirements/doctor.txt includes all of requirements.txt

# The policy pack has its own environment, because pulumi-policy needs an older protobuf than the program.
gpu_ci/policy/.venv/run: requirements/policy.txt tools/setup.sh
	@tools/setup.sh requirements/policy.txt $@

.PHONY: policy-pack
policy-pack: gpu_ci/policy/.venv/run ## Set up the environment of the policy pack, for pulumi up --policy-pack gpu_ci/policy

# Inspect a stack --------------------------------------------------------------------------------------------------

.PHONY: preview report plan rehearse
preview: .venv/run ## Print the plan, then preview it with the real engine on fake clouds, without an account; BASE=origin/main: what changes since then
	@$(OPS) preview $(WHICH) $(if $(WHY),--why) $(if $(BASE),--base "$$BASE")

report: .venv/run ## Write out/report.md, .html and .json: what changes since BASE=origin/main, what it costs and breaks
	@$(OPS) report $(WHICH) $(if $(BASE),--base "$$BASE") --out "$${OUT:-out}" --json "$${OUT:-out}/report.json"

plan: .venv/run ## Print only the plan: resources, verdicts, cost, findings
	@$(OPS) plan $(WHICH) $(if $(WHY),--why)

rehearse: .venv/run ## Run up, a change and destroy of a stack on the real engine with fake clouds
	@$(OPS) rehearse $(WHICH)

.PHONY: smoke
smoke: .venv/doctor ## Test the GPUs of every pool of the live cluster, or of POOL=name, and print the time of each step
	@$(OPS) smoke $(WHICH)$(if $(POOL), --pool "$$POOL")

.PHONY: upgrade-check
upgrade-check: .venv/run ## Preview the program over the state of every stack at the previous release; BASE=origin/main: the versions that change
	@$(OPS) upgrade-check $(if $(BASE),$(WHICH) --base "$$BASE")

.PHONY: bootstrap
bootstrap: .venv/run ## Create the state, the key and the access for pipelines of a stack, and print the variables for CI
	@$(OPS) bootstrap --stack "$${STACK:-staging}"

.PHONY: kit workflows
kit: .venv/run ## Write the files that a repository needs to use the runners, to OUT=out
	@$(OPS) kit $(WHICH) --out "$$OUT"$(if $(REPO), --repo "$$REPO")$(if $(FORCE), --force)

workflows: .venv/run ## Check the workflows of the checkout REPO_FOLDER=. against the runners of the stack
	@$(OPS) workflows $(WHICH)$(if $(ALSO), --also "$$ALSO") -- "$${REPO_FOLDER:-.}"

.PHONY: doctor
doctor: .venv/doctor ## Check the clouds, the cluster and GitHub as they are now, and print the first broken link
	@$(OPS) doctor $(if $(OFFLINE),--offline "$$OFFLINE",$(WHICH)) $(if $(WHY),--why)$(if $(ONLY), --only "$$ONLY")$(if \
		$(LOG), --log "$$LOG")$(if $(REPO), --repo "$$REPO")$(if $(BUNDLE), --bundle "$$BUNDLE")

# Test -------------------------------------------------------------------------------------------------------------

.PHONY: test test-all
test: .venv/dev cli ## Run the tests that find most mistakes, in about five minutes: tests/quick.py
test-all: .venv/dev gpu_ci/policy/.venv/run cli ## Run all tests, as in CI
# worksteal: with loadfile, a worker that crashes gets the same test again.
test test-all:
	@$(PYTEST) -q -p tests.tiers $(if $(filter test,$@),-p tests.quick) -n "$$JOBS" --dist worksteal

# Without a Pulumi CLI, the tests that need it are skipped. In CI, they must run.
.PHONY: cli
cli: .venv/run
	@$(PY) -m tools.pulumi_path > /dev/null || echo 'test: without the Pulumi CLI, engine tests are skipped' >&2

.PHONY: test-image
test-image: ## Check a runner image with Docker: IMAGE=name CUDA=12.9 TARGET=runtime, and with GPUS=1 on a GPU
	@command -v docker > /dev/null || { echo 'test-image: needs docker: https://docs.docker.com/engine/install' >&2; exit 3; }
	@[ -n "$$IMAGE" ] && [ -n "$$CUDA" ] || { echo 'test-image: state the image and its CUDA version, as in IMAGE=name CUDA=12.9' >&2; exit 2; }
	@docker run --rm $${GPUS:+--gpus all} --entrypoint check-image -- "$$IMAGE" "$$TARGET" "$$CUDA" $${GPUS:+"$$GPUS"}

# Check ------------------------------------------------------------------------------------------------------------

.PHONY: check format
check: .venv/dev ## Check format, style, types and shell scripts, and that generated files are current
	@$(PY) -m ruff format --check --quiet . || { echo 'check: run `make format`' >&2; exit 1; }
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy --strict --no-error-summary $(CODE)
	@$(PY) -m pyright --pythonpath $(PY) > .venv/pyright.log || { cat .venv/pyright.log >&2; exit 1; }
	@command -v shellcheck > /dev/null || { echo 'check: shellcheck is missing: run `make artefact-tools`' >&2; exit 3; }
	@shellcheck $(SCRIPTS)
	@$(OPS) schema --check
	@$(PY) -m tools.reference --check
	@echo 'check: passed'

format: .venv/dev ## Format the code, and apply automatic fixes
	@$(PY) -m ruff format --quiet .
	@$(PY) -m ruff check --quiet --fix .

# Generate ---------------------------------------------------------------------------------------------------------

.PHONY: schema golden reference chart-keys replacement-table record-release docs lock
schema: .venv/run ## Write the JSON schema of the stack file
	@$(OPS) schema

golden: .venv/run ## Write the golden files that tests compare against
	@$(OPS) golden

reference: .venv/run ## Write the generated parts of the reference pages
	@$(PY) -m tools.reference --write

chart-keys: .venv/run ## Write the lists of keys that the pinned charts read, from CHARTS=folder or with helm
	@$(PY) -m tools.chart_keys $(if $(CHARTS),--charts "$$CHARTS")

replacement-table: .venv/run ## Write the inputs whose change replaces a resource, from SCHEMAS=folder or with pulumi
	@$(PY) -m tools.replacement_table $(if $(SCHEMAS),--schemas "$$SCHEMAS")

record-release: .venv/run ## Record the state of every stack for upgrade-check at a release, with RELEASE=0.2.0
	@$(OPS) record-release -- "$$RELEASE"

docs: .venv/dev ## Build the documentation into site/
	@$(PY) -m mkdocs build --strict

# The first lines of the lock files contain this command. Renovate runs the same command.
LOCK = uv pip compile --quiet pyproject.toml --universal --python-version=3.11 --generate-hashes
lock: ## Update the lock files from pyproject.toml with uv; UPGRADE=--upgrade updates all packages
	@command -v uv > /dev/null || { echo 'lock: needs uv: https://docs.astral.sh/uv' >&2; exit 3; }
	@$(LOCK) $${UPGRADE:+"$$UPGRADE"} --output-file=requirements.txt > /dev/null
	@$(subst pyproject.toml,gpu_ci/policy/requirements.txt,$(LOCK)) $${UPGRADE:+"$$UPGRADE"} --output-file=requirements/policy.txt > /dev/null
	@$(LOCK) $${UPGRADE:+"$$UPGRADE"} --group=doctor --constraints=requirements.txt --output-file=requirements/doctor.txt > /dev/null
	@$(LOCK) $${UPGRADE:+"$$UPGRADE"} --group=dev --constraints=requirements/doctor.txt --output-file=requirements/dev.txt > /dev/null

# Machine ----------------------------------------------------------------------------------------------------------

.PHONY: artefact-tools pulumi clean
artefact-tools: ## Install the tools that are not Python packages: shellcheck, graphviz, systemd, cloud-init, debootstrap, actionlint
	@tools/artefact-tools.sh '$(BIN)'

pulumi: .venv/run ## Print the folder of a Pulumi CLI that matches the SDK, and install one if needed
	@$(PY) -m tools.pulumi_path

clean: ## Remove environments and generated files from this checkout; keep caches outside it
	@rm -rf .venv gpu_ci/policy/.venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache site out
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
