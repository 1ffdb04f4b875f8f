# Each target does its own setup. Users need install, run and chat; contributors need the others.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := tests/tools/mcp/peers/node_modules
NODE := web/node_modules
WHEELS := .wheels
WEB := src/pilothouse/server/web
WEB_SOURCES := $(shell find web/src web/public web/index.html web/package-lock.json web/tsconfig.json web/vite.config.ts -type f 2>/dev/null)
AS_ROOT := $(shell test "$$(id -u)" = 0 || command -v sudo)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help install run chat test test-fast test-long mutants check web wheel bench docs lock clean tesseract busybox chromium nginx systemd

help: ## show this
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(VENV)/.run ## make .venv with the command .venv/bin/pilothouse

run: install $(WEB)/index.html ## start the server and open the web client; no API key needed
	@$(BIN)/pilothouse serve

chat: install ## a conversation in the terminal; no API key needed
	@$(BIN)/pilothouse

# The types are checked on one core while the web client's tests use the other. Then four workers on two cores: many tests
# wait for processes and disks.
test: $(VENV)/.dev $(WEB)/index.html $(PEERS)/.done $(WHEELS)/.done tesseract busybox chromium nginx systemd ## lint, types and all tests, the long ones as a sample; about eleven minutes on two cores
	$(MAKE) --no-print-directory -j2 check web
	$(BIN)/python -m pytest -n 4 --dist worksteal

test-fast: $(VENV)/.dev ## the tests that need no server, no command and no browser; under a minute on two cores
	$(BIN)/python -m pytest -n 2 tests/architecture tests/config tests/domain tests/i18n tests/llm tests/window

test-long: $(VENV)/.dev $(WEB)/index.html $(PEERS)/.done $(WHEELS)/.done tesseract busybox nginx systemd ## the same with the full counts of kills, faults and generated cases
	PILOTHOUSE_LONG=1 $(MAKE) web
	PILOTHOUSE_LONG=1 $(BIN)/python -m pytest -n 3 --dist worksteal

mutants: $(VENV)/.dev $(WEB)/index.html ## change the gate, the sandbox, the access checks and undo, and list what no test notices
	$(BIN)/python -m tests.mutants

check: $(VENV)/.dev ## lint and types only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

web: install $(WEB)/index.html chromium nginx ## types and tests of the web client only, also in a browser
	PILOTHOUSE_PYTHON=$(CURDIR)/$(BIN)/python npm --prefix web run --silent check
	PILOTHOUSE_PYTHON=$(CURDIR)/$(BIN)/python npm --prefix web run --silent e2e

wheel: install $(WEB)/index.html ## build dist/*.whl, with the web client in it
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

bench: $(VENV)/.dev .bench-venv/.done $(WEB)/index.html chromium ## measure the figures of docs/benchmarks.md, beside a floor and a peer in the same run
	$(BIN)/python -m benchmarks

docs: install ## write what is generated from the code: parts of the documentation and of the web client
	$(BIN)/python docs/generate.py

lock: $(VENV)/.dev ## pin and hash the requirements again
	$(PIP) install pip-tools
	for set in run dev bench; do \
		case $$set in run) more="--extra mcp --extra search --extra tokens requirements/build.in";; dev) more="--extra mcp --extra search --extra tokens --extra dev --extra otel requirements/build.in";; bench) more="--extra bench";; esac; \
		$(BIN)/pip-compile -q --upgrade --strip-extras --generate-hashes --no-emit-index-url --no-emit-find-links \
			--no-emit-trusted-host --no-header --no-annotate -o requirements/$$set.txt pyproject.toml $$more; \
	done

clean: ## remove what the other targets made
	rm -rf $(VENV) $(PEERS) $(NODE) $(WEB) $(WHEELS) dist .bench-venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.run: requirements/run.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

# MCP servers of other authors, for the interoperability tests.
$(PEERS)/.done: $(dir $(PEERS))package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --silent --prefix $(dir $(PEERS))
	@touch $@

# The packages that an image installs, for the test of its Dockerfile.
$(WHEELS)/.done: requirements/run.txt $(VENV)/.run
	rm -rf $(WHEELS)
	$(PIP) download --require-hashes --dest $(WHEELS) -r requirements/run.txt
	@touch $@

$(NODE)/.done: web/package-lock.json
	@command -v npm >/dev/null || { echo "The web client is built with Node.js 20.19 or newer: install it (nodejs.org, or your system's packages)." >&2; exit 1; }
	npm ci --ignore-scripts --no-audit --no-fund --silent --prefix web
	@touch $@

$(WEB)/index.html: $(NODE)/.done $(WEB_SOURCES)
	npm --prefix web run --silent build
	@touch $@

# OCR, for the tests with images of text.
tesseract:
	@command -v tesseract >/dev/null || $(AS_ROOT) sh -c 'apt-get -qq update; apt-get install -y -qq --no-install-recommends tesseract-ocr' \
		|| { echo "The tests need the program tesseract: install it (Debian, Ubuntu: apt install tesseract-ocr)." >&2; exit 1; }

# A third shell, for the differential tests of the shell parser.
busybox:
	@command -v busybox >/dev/null || $(AS_ROOT) sh -c 'apt-get -qq update; apt-get install -y -qq --no-install-recommends busybox' \
		|| { echo "The tests need the program busybox: install it (Debian, Ubuntu: apt install busybox)." >&2; exit 1; }

# A proxy, for the tests with TLS and a path prefix. Debian would run it as a service, now and after each boot.
nginx:
	@missing=; for program in nginx openssl curl; do PATH=$$PATH:/usr/sbin command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	test -z "$$missing" || $(AS_ROOT) sh -c 'policy=/usr/sbin/policy-rc.d; \
		test -e $$policy || { trap "rm -f $$policy" EXIT; printf "#!/bin/sh\nexit 101\n" >$$policy; chmod 755 $$policy; }; \
		apt-get -qq update; apt-get install -y -qq --no-install-recommends "$$@" && { systemctl --quiet disable nginx 2>/dev/null || true; }' sh $$missing \
		|| { echo "The tests need the programs nginx, openssl and curl: install them (Debian, Ubuntu: apt install nginx openssl curl)." >&2; exit 1; }

# Checks the unit in deploy/. The tests that use it are skipped where it is missing.
systemd:
	@command -v systemd-analyze >/dev/null || $(AS_ROOT) sh -c 'apt-get -qq update; apt-get install -y -qq --no-install-recommends systemd' \
		|| echo "The unit in deploy/ is not checked: systemd-analyze is missing (Debian, Ubuntu: apt install systemd)." >&2

# The browser in which the end-to-end tests of the web client run.
chromium:
	@test -x "$${PILOTHOUSE_CHROMIUM:-/usr/bin/chromium}" || $(AS_ROOT) sh -c 'apt-get -qq update; apt-get install -y -qq --no-install-recommends chromium' \
		|| { echo "The browser tests need Chromium: install it (Debian: apt install chromium), or set PILOTHOUSE_CHROMIUM to its path." >&2; exit 1; }

.bench-venv/.done: requirements/bench.txt
	test -x .bench-venv/bin/python || $(PYTHON) -m venv .bench-venv
	.bench-venv/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/bench.txt
	@touch $@
