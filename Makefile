# Everything that CI runs is a target here. `make` lists them.
#
# REPO and ISSUE are relative to this folder, or to the folder that make was called from (make -C).

REPO = .
ISSUE = examples/crash-with-traceback.md
ARGS =
SET =
MIRROR =
UPGRADE =
IMAGE = localhost/bug-triage:dev
ENGINE = $(shell command -v docker || command -v podman)

VENV = .venv
BIN = $(VENV)/bin
RUN = $(BIN)/python
TOOLS = $(VENV)/.installed-dev
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url $(if $(UPGRADE),--upgrade)

# Each candidate is run: version managers leave names on the path that only print an error, and Debian packages venv apart.
PYTHON = $(shell for name in python3.14 python3.13 python3.12 python3.11 python3; do \
	$$name -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$name && break; done)

# Variables of the caller that would install elsewhere or hide this checkout from `python -m`.
unexport PYTHONHOME PYTHONPATH PYTHONSAFEPATH PIP_PREFIX PIP_TARGET PIP_USER

PIP = $(RUN) -m pip install -qq --disable-pip-version-check --no-input --no-compile --no-deps --require-hashes -r
# uv is faster; pip where an index or an authority stands in its settings alone. Compiles packages on all cores. A package
# may ship a file for another Python version: that is no error.
define INSTALL
	@echo "installing $< into $(VENV)" >&2
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.txt >$(VENV)/uv.txt
	@$(PIP) $(VENV)/uv.txt && $(BIN)/uv pip install --system-certs --quiet --python $(RUN) --no-deps --require-hashes -r $< 2>/dev/null || $(PIP) $<
	@$(RUN) -m compileall -qq -j 0 $(VENV)/lib >/dev/null || true
	@touch $@
endef

resolve = $(if $(wildcard $(1)),$(1),$(if $(wildcard $(PWD)/$(1)),$(PWD)/$(1),$(1)))

.PHONY: help install fmt check test trust bench triage backtest golden lock package image try

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

triage: $(VENV)/.installed ## triage ISSUE (a file, a number, -) on the checkout REPO, without a key
	@PYTHONDONTWRITEBYTECODE=1 $(RUN) -m triage run --repo "$(call resolve,$(REPO))" --issue "$(call resolve,$(ISSUE))" --engine rules $(ARGS)

backtest: $(VENV)/.installed ## triage past fixes of the checkout REPO, and count how often that was right
	@PYTHONDONTWRITEBYTECODE=1 $(RUN) -m triage backtest --repo "$(call resolve,$(REPO))" $(ARGS)

install: $(TOOLS) ## make .venv with everything that development needs

fmt: $(TOOLS) ## format, and fix what can be fixed
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

check: $(TOOLS) ## format, lint, types, import rules, workflows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml composite/action.yml container/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/*/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*_*.yml
	$(BIN)/zizmor --offline --no-progress --quiet --persona pedantic action.yml composite/action.yml container/action.yml .github examples/*/*.yml

# More workers than cores: about half of the time a test waits for a server or a process.
test: $(TOOLS) ## run all tests except those that need a container; ARGS goes to pytest
	$(RUN) -m pytest -n 3 --dist worksteal $(ARGS)

trust: $(TOOLS) ## try attacks and failures against the action; ARGS="--share 0.1" tries a tenth
	@$(RUN) -m trust $(ARGS)

bench: $(TOOLS) ## measure speed, memory and growth; with SET=FILE.jsonl MIRROR=DIR also accuracy
	$(RUN) -m bench.compare $(if $(SET),--set "$(call resolve,$(SET))" --mirror "$(call resolve,$(MIRROR))",.) $(ARGS)
	$(RUN) -m bench.speed . --growth

golden: $(TOOLS) ## update the golden files and the generated parts of the pages; read the diff
	$(RUN) -m pytest tests/domain tests/say tests/run tests/fix tests/outside/output/test_telemetry.py tests/backtest tests/reproduce --golden
	$(RUN) -m tests.docs_pages
	$(RUN) -m release.action_files
	$(RUN) -m release.copied_jobs

lock: $(TOOLS) ## resolve the requirements again, with hashes; UPGRADE=1 takes the newest versions
	$(LOCK) --excludes requirements-excluded.txt requirements.in -o requirements.txt
	$(LOCK) requirements-dev.in -o requirements-dev.txt
	$(LOCK) --no-deps requirements-try.in -o requirements-try.txt

package: $(TOOLS) ## install the package into a new environment, and triage ISSUE with its command
	$(RUN) -m pytest -m package tests/e2e
	$(BIN)/uv tool run --quiet --isolated --from . bug-triage run --repo "$(call resolve,$(REPO))" --issue "$(call resolve,$(ISSUE))" --engine rules $(ARGS)

image: ## build the container image as IMAGE, with docker or podman
	$(ENGINE) build --tag $(IMAGE) .

try: $(TOOLS) ## test IMAGE against a fake GitHub, and with a small model, on loopback
	TRY_IMAGE=$(IMAGE) TRY_ENGINE=$(ENGINE) $(RUN) -m pytest -m container tests/e2e $(ARGS)

$(RUN):
	@test -n "$(PYTHON)" || { echo "needs Python 3.11 or newer, with venv (Debian: apt install python3-venv)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt | $(RUN)
	$(INSTALL)

$(TOOLS): requirements-dev.txt $(VENV)/.installed
	$(INSTALL)
