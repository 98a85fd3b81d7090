# The same targets on a laptop and in CI. Needs Python 3.11, a C compiler, and for the tests JDK 17 and Maven.
#
#   make build      .venv with a compiled `kraftctl` in it
#   make dev        a controller and three real Kafka brokers on this machine, until Ctrl-C
#   make test       the whole suite against compiled code, and what is pure once more uncompiled
#   make test-quick   the pure core, uncompiled, in seconds
#   make soak       what takes long, with a seed and for a time
#   make faults     plants known defects, one by one, and expects tests to notice each
#   make export-demo  a page of plots about a small real cluster, in about two minutes
#   make check      lint, types, import contracts, generated code
#
# Compiled code is only ever inside .venv: the tree has no .so that could hide an edited source.
# `PYTHONPATH=$(SOURCES)` before a command of .venv runs the sources as they are, uncompiled.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -q
SOURCES := .:protocol:spark
PYTEST_ARGS ?=
DEV_ARGS ?=
DEMO_ARGS ?=
CHROMIUM := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
BENCH_ARGS ?=

PACKAGED := $(shell find kraftctl protocol/kraftctl_protocol spark/kraftctl_spark -name '*.py' -o -name '*.typed' -o -name '*.java' 2>/dev/null | sort)
# A source that was removed changes no time stamp of another: its absence is in this name.
TREE := $(shell printf '%s\n' $(PACKAGED) | cksum | cut -d' ' -f1)
WHEEL := build/wheel/.built-$(TREE)

.PHONY: build setup dev export-demo test test-quick test-compiled test-pure check format bench bench-export generate lock clean

build: $(STAMPS)/compiled-$(TREE)

# The build, and what tests, checks and the exporter need besides.
setup: build $(STAMPS)/dev

dev: setup
	PYTHONSAFEPATH=1 $(BIN)/kraftctl dev $(DEV_ARGS)

export-demo: setup
	PYTHONSAFEPATH=1 $(BIN)/python spark/demo/export_demo.py $(DEMO_ARGS)

$(STAMPS)/venv:
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	touch $@

# What requirements.lock names, as files: the build and the tests of the wheel take everything from here, by hash.
build/requirements/.complete: requirements.lock | $(STAMPS)/venv
	rm -rf build/requirements
	$(PIP) download --require-hashes -r requirements.lock -d build/requirements
	touch $@

$(STAMPS)/requirements: build/requirements/.complete
	$(PIP) install --no-index --find-links build/requirements --require-hashes -r requirements.lock
	touch $@

$(STAMPS)/dev: requirements-dev.lock $(STAMPS)/requirements
	$(PIP) install --require-hashes -r requirements-dev.lock
	touch $@

# The wheel is made as pip makes it for a user: of what the sdist holds, by an interpreter without any of our
# requirements, with build tools in an environment of their own. (mypy also looks into the environment of the pip
# that runs it, so .venv would not do.) build/source/build keeps the objects: only what has changed is compiled again.
$(WHEEL): $(PACKAGED) pyproject.toml setup.py MANIFEST.in build/requirements/.complete | $(STAMPS)/requirements
	rm -rf build/wheel build/sdist kraftctl.egg-info
	mkdir -p build/wheel build/source
	if [ "$$(cat build/.tree 2>/dev/null)" != $(TREE) ]; then rm -rf build/source/build/lib* build/source/build/bdist*; fi
	echo $(TREE) > build/.tree
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('build/sdist')" > build/sdist.log
	rm -rf kraftctl.egg-info
	find build/source -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	tar -xzf build/sdist/kraftctl-*.tar.gz --strip-components=1 -C build/source
	[ -x build/venv/bin/python ] || $(PYTHON) -m venv build/venv
	@echo "compiling kraftctl: some minutes the first time"
	$(subst $(BIN),build/venv/bin,$(PIP)) wheel --no-deps --no-index --find-links build/requirements -w build/wheel build/source
	touch $@

# What is installed and tested is that wheel.
$(STAMPS)/compiled-$(TREE): $(WHEEL)
	rm -f $(STAMPS)/compiled-*
	$(PIP) install --no-deps --no-index --force-reinstall build/wheel/kraftctl-*.whl
	$(BIN)/kraftctl --version
	touch $@

SAY_WITHOUT_BROWSER = @$(if $(CHROMIUM),,echo "no chromium on the PATH: leaving out what opens the report in a browser")

# Everything, two lanes side by side; PYTEST_ARGS takes options, paths are for the targets below.
test: setup
	$(SAY_WITHOUT_BROWSER)
	$(BIN)/python tests/lanes.py all $(if $(CHROMIUM),,--without-browser) $(PYTEST_ARGS)

# The pure core from its sources, with fewer seeds and examples.
test-quick: $(STAMPS)/dev
	@$(BIN)/python tests/lanes.py quick $(PYTEST_ARGS)

test-compiled: setup
	$(SAY_WITHOUT_BROWSER)
	PYTHONSAFEPATH=1 KRAFTCTL_UNDER_TEST=compiled $(BIN)/pytest $(if $(CHROMIUM),,-m "not browser") $(PYTEST_ARGS)

test-pure: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) KRAFTCTL_UNDER_TEST=sources $(BIN)/pytest -m "not java and not interop and not spark and not slow and not browser and not wheel" $(PYTEST_ARGS)

check: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=$(SOURCES) $(BIN)/lint-imports
	PYTHONPATH=$(SOURCES) $(BIN)/python -m kraftctl_codegen --check

format: $(STAMPS)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

generate: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) $(BIN)/python -m kraftctl_codegen

bench: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/run.py

# `--records 500000 --runs 1` for a first look: BENCH_ARGS="--records 500000 --runs 1"
bench-export: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/export.py $(BENCH_ARGS)

# New versions of what we depend on; the lock files name exact versions and hashes, and no index.
LOCK := $(BIN)/uv pip compile -q --python $(BIN)/python --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml
lock: $(STAMPS)/venv
	$(PIP) install uv
	$(LOCK) --extra build --extra dev --extra spark --extra report -o requirements-dev.lock
	$(LOCK) --extra build -c requirements-dev.lock -o requirements.lock

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# What takes long, with a seed and for a time: SOAK names some of it, `SOAK_ARGS="--seed 7 --minutes 30"`.
# Each fault of tests/faults/catalogue.py is planted into a copy; FAULTS="name name" takes some.
.PHONY: faults
FAULTS ?=
faults: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) $(BIN)/python tests/faults/run.py $(FAULTS)

.PHONY: soak soak-export
SOAK ?=
SOAK_ARGS ?=
soak: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/soak/run.py $(SOAK_ARGS) $(SOAK)

# 100 kills of an export while a controller's log grows; `SOAK_ARGS="--kills 20 --seed 7"` for another run.
soak-export: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/spark/soak/run.py $(SOAK_ARGS)
