# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# Every target makes what it needs by itself; the second time that takes a fraction of a second.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
# Extra arguments: make test ARGS='-k launch', make demo ARGS='--verbose'
ARGS ?=

ENTER := . "$(CURDIR)/.venv/setup.bash"

.PHONY: help setup demo test docs lint doctor bench shell lock clean

help: ## Show this list
	@echo 'drex_ros: make TARGET [ARGS="..."]'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 12

setup: ## Make the environment and build; the other targets do this by themselves
	@$(PYTHON) tools/workspace

.PHONY: ready
ready:
	@$(PYTHON) tools/workspace --quiet

demo: ready ## Bring the robot up in simulation: it sees, moves, trips, recovers, stops
	@$(ENTER) && drex demo $(ARGS)

test: ready ## Run all tests and checks
	@$(ENTER) && python -m pytest $(ARGS)

docs: ready ## Write docs/interfaces.md and docs/parameters.md from the sources
	@$(ENTER) && python tools/reference.py

lint: ready ## Run only ruff, mypy and the package checks
	@$(ENTER) && python -m pytest test/test_quality.py $(ARGS)

doctor: ready ## Check this machine, one line each, with the remedy
	@$(ENTER) && drex doctor $(ARGS)

bench: ready ## Measure; prints ratios taken side by side in one run
	@$(ENTER) && for part in physics control camera lockstep; do \
	  echo "== $$part"; python bench/$$part.py $(ARGS) || exit 1; done

shell: ready ## Open a shell with everything sourced
	@bash --rcfile <(cat ~/.bashrc 2>/dev/null; echo '$(ENTER)') -i

lock: ## Write requirements/lock.txt from what is installed in .venv now
	@$(PYTHON) tools/workspace --lock

clean: ## Remove everything that was made: environment, build, logs
	rm -rf .venv build install log .workspace.lock .pytest_cache .mypy_cache .ruff_cache
