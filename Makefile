# The everyday targets. targets.mk has the others: long tests, benchmarks, documentation, releases.
# Each target sets up what it needs, also in a fresh clone.
PYTHON ?= python3
JOBS ?= 3
VENV := .venv
# What `make demo` runs: Kohort and what it needs, without the tools of development and without Spark.
PLAIN := .venv-plain
BIN := $(VENV)/bin
SETUP := $(VENV)/.ready
PIP := python -m pip install --quiet --disable-pip-version-check
# pip installs what a lock contains, if its hash is in the lock, and nothing else.
LOCKED := --require-hashes --no-deps
# Images of Python set it. Without caches each process of the tests compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check test format completions kafka shells browser clean
.SILENT: $(PLAIN)/.ready

##@ Every day

help: ## Show the targets
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-23s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(PLAIN)/.ready ## Install Kohort alone, and show its main job on a sample fleet, without a broker
	@PATH="$(CURDIR)/$(PLAIN)/bin:$$PATH" sh docs/demo.sh
	@echo "Next: $(PLAIN)/bin/kohort --help, or install it for yourself: pipx install ."

check: $(SETUP) ## Format, lint, types, import rules, spelling, words, sizes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	git ls-files -z | xargs -0 $(BIN)/codespell
	$(BIN)/python -m tests.docs.words
	$(BIN)/python -m tests.shipping.budget

test: $(SETUP) ## Run the tests that every change must pass (JOBS=4: four processes); downloads Apache Kafka once
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

format: $(SETUP) ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

completions: $(SETUP) ## Generate the shell completions
	$(BIN)/kohort completion bash > completions/kohort.bash
	$(BIN)/kohort completion zsh > completions/_kohort
	$(BIN)/kohort completion fish > completions/kohort.fish

kafka: $(SETUP) ## Download Apache Kafka for the tests
	$(BIN)/python -m tests.kafka.jars

shells: ## Install missing shells, and tmux, for the tests of completion and kohort top (Debian and derivatives)
	@sh tests/cli/shells/install.sh

browser: ## Install a missing browser for the tests of pages (Debian and derivatives)
	@sh tests/browser/install.sh

clean: ## Remove the files that other targets create
	rm -rf $(VENV) $(PLAIN) build dist man site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# An environment with a lock's packages and Kohort. setuptools is first: it builds what has no wheel, and Kohort.
define environment
	$(PYTHON) -m venv $(@D)
	sed -n '/^setuptools==/,/[^\\]$$/p' $(filter locks/%,$^) | $(@D)/bin/$(PIP) $(LOCKED) --requirement /dev/stdin
	$(@D)/bin/$(PIP) $(LOCKED) --no-build-isolation --requirement $(filter locks/%,$^)
	$(@D)/bin/$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@
endef

$(SETUP): pyproject.toml locks/dev.txt
	$(environment)

$(PLAIN)/.ready: pyproject.toml locks/plain.txt
	@echo "Installing Kohort into $(PLAIN) …"
	$(environment)

include targets.mk
