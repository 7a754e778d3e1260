# make demo   install, build demo.trivium from examples/, run three searches
# make demo-postgres   the same on a PostgreSQL that is started for it, or POSTGRES=address
# make test   install, run all tests; in a browser too, if there is one or Debian's may be installed
# make check  formatting, lint, types, tests (documentation is under test too)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help demo demo-postgres test check format lint types clean

help:
	@sed -n 's/^# //p' Makefile

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.installed: pyproject.toml setup.py $(wildcard src/trivium/kernels/*.[ch]) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.developing: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

.peers/.installed: bench/peers.txt
	$(PYTHON) -m venv .peers
	.peers/bin/python -m pip install --quiet --requirement bench/peers.txt
	@touch $@

demo: $(VENV)/.installed
	@BIN=$(BIN) sh tools/demo.sh

demo-postgres: $(VENV)/.developing
	@$(BIN)/python tools/demo_postgres.py $(POSTGRES)

test: $(VENV)/.developing
	@sh tools/browser.sh
	$(BIN)/python -m pytest -n 2

format: $(VENV)/.developing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/.developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.developing
	$(BIN)/mypy

check: lint types test

clean:
	rm -rf $(VENV) .peers demo.trivium .mypy_cache .ruff_cache .pytest_cache .hypothesis artefacts dist build
