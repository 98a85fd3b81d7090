# The same targets on a laptop and in CI. Needs Python 3.11, a C compiler, and for the tests JDK 17 and Maven.
#
#   make dev        a controller and three real Kafka brokers on this machine, until Ctrl-C; from source if need be
#   make build      .venv with a compiled `kraftctl` in it
#   make test       the suite against compiled code, and the pure tests from source as well
#   make test-long  the variants and planted faults that it leaves out
#   make test-quick   the pure core, uncompiled, in a minute or two
#   make simulate   whole simulated clusters with faults; a find prints the line that repeats it
#   make soak       the long random tests, with a given seed and duration
#   make test-chaos   real controllers and brokers, with faults of all kinds and clients that check what is lost
#   make reliability-report   HOURS=n of that, with histories that are checked, also of Kafka's own controllers
#   make test-matrix  brokers, controllers and tools of each release of Kafka with kraftctl, and the tables of docs/versions.md
#   make attack     attacks a compiled controller with hand-made bytes, and measures what its brokers see
#   make differential  the same random calls on Kafka's own controller: what differs is repeated and printed
#   make fuzz       frames, batches and directories that no program writes, with limits for each
#   make faults     plants known defects, one at a time, and expects a test to notice each
#   make simulate-faults   the same for the simulator alone: which invariant names each, after how many runs
#   make export-demo  an HTML page of plots about a small real cluster, in about two minutes
#   make release    sdist, wheel, bill of materials, provenance and SHA256SUMS of HEAD, in dist
#   make deb, rpm   a package of that wheel, beside it; `make dist-check` runs a controller from each
#   make check      lint, types, import contracts, generated code
#
# Compiled code is only in .venv: the tree has no .so that could hide an edited source.
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
# For the C compiler: quick to compile, where setup.py builds a release. `make build OPT_LEVEL=3` builds, and
# `make bench OPT_LEVEL=3` measures, one.
OPT_LEVEL ?= g
export KRAFTCTL_OPT_LEVEL := $(OPT_LEVEL)
PYTEST_ARGS ?=
DEV_ARGS ?=
DEMO_ARGS ?=
CHROMIUM := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
BENCH_ARGS ?=

PACKAGED := $(shell find kraftctl protocol/kraftctl_admin protocol/kraftctl_observer protocol/kraftctl_protocol protocol/kraftctl_security spark/kraftctl_spark -name '*.py' -o -name '*.typed' -o -name '*.java' -o -name '*.sql' -o -name '*.html' -o -name '*.css' -o -name '*.js' 2>/dev/null | sort)
# Removing a source changes no timestamp of the others: this checksum of all names changes instead.
TREE := $(shell printf '%s\n' $(filter-out g,$(OPT_LEVEL)) $(PACKAGED) | cksum | cut -d' ' -f1)
WHEEL := build/wheel/.built-$(TREE)

.PHONY: build setup dev export-demo test test-long test-quick test-compiled test-pure check format bench bench-core bench-full bench-publish bench-failover bench-ssl bench-audit bench-export bench-scale generate lock clean

build: $(STAMPS)/compiled-$(TREE)

# The build, and the packages that only tests, checks and the exporter need.
setup: build $(STAMPS)/dev

# Nothing is compiled for it: it runs what `make build` has made if that is up to date, otherwise the sources.
dev:
	@$(PYTHON) -m kraftctl.dev.kafka_distribution
	@$(MAKE) -s --no-print-directory $(STAMPS)/run
	@if $(MAKE) --no-print-directory -q build 2> /dev/null; then PYTHONSAFEPATH=1 exec $(BIN)/kraftctl dev $(DEV_ARGS); fi; \
	echo "kraftctl runs from source, and needs several times the processor time: \`make build\` compiles it, in some minutes"; \
	PYTHONPATH=$(CURDIR):$(CURDIR)/protocol:$(CURDIR)/spark exec $(BIN)/python -m kraftctl dev $(DEV_ARGS)

export-demo: setup
	PYTHONSAFEPATH=1 $(BIN)/python spark/demo/export_demo.py $(DEMO_ARGS)

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kraftctl needs Python 3.11 or newer, and %s is %d.%d. Next step: name another one, as in `make PYTHON=python3.11`" % (sys.executable, *sys.version_info[:2]))'
	@echo "making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	touch $@

# What a controller runs with, and no more: enough for `make dev`.
$(STAMPS)/run: requirements-run.lock | $(STAMPS)/venv
	@echo "installing what kraftctl runs with into $(VENV)"
	@$(PIP) install --require-hashes -r requirements-run.lock
	@touch $@

# The files that requirements.lock names: the build and the tests of the wheel install from here, by hash.
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

# The wheel is built as a user's pip builds it: from the contents of the sdist, by an interpreter without any of our
# requirements, with the build tools in a separate environment. (mypy also looks into the environment of the pip
# that runs it, so .venv cannot be used.) build/source/build keeps the objects: only changed code is compiled again.
$(WHEEL): $(PACKAGED) pyproject.toml setup.py native/trashcan.h MANIFEST.in build/requirements/.complete | $(STAMPS)/requirements
	rm -rf build/wheel build/sdist kraftctl.egg-info
	mkdir -p build/wheel build/source
	if [ "$$(cat build/.tree 2>/dev/null)" != $(TREE) ]; then rm -rf build/source/build/lib* build/source/build/bdist*; fi
	echo $(TREE) > build/.tree
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('build/sdist')" > build/sdist.log
	rm -rf kraftctl.egg-info
	find build/source -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	tar -xzf build/sdist/kraftctl-*.tar.gz --strip-components=1 -C build/source
	[ -x build/venv/bin/python ] || $(PYTHON) -m venv build/venv
	@$(BIN)/python setup.py -q check_compiler
	$(subst $(BIN),build/venv/bin,$(PIP)) wheel --no-deps --no-index --find-links build/requirements -w build/wheel build/source
	touch $@

# That wheel is installed and tested.
$(STAMPS)/compiled-$(TREE): $(WHEEL)
	rm -f $(STAMPS)/compiled-*
	$(PIP) install --no-deps --no-index --force-reinstall build/wheel/kraftctl-*.whl
	$(BIN)/kraftctl --version
	touch $@

NOTE_WITHOUT_BROWSER = @$(if $(CHROMIUM),,echo "no chromium on the PATH: tests that open the report in a browser are left out")

# Two lanes in parallel; the first ones test the sources while `make setup` compiles. PYTEST_ARGS takes options;
# the targets below also take paths.
test: $(STAMPS)/dev
	$(NOTE_WITHOUT_BROWSER)
	$(BIN)/python tests/lanes.py test $(if $(CHROMIUM),,--without-browser) $(PYTEST_ARGS)

# The tests that `make test` leaves out: more variants with real brokers and Spark, and all planted faults.
test-long: setup
	$(NOTE_WITHOUT_BROWSER)
	$(BIN)/python tests/lanes.py long $(if $(CHROMIUM),,--without-browser) $(PYTEST_ARGS)

# The pure core from source, with fewer seeds and examples.
test-quick: $(STAMPS)/dev
	@$(BIN)/python tests/lanes.py quick $(PYTEST_ARGS)

test-compiled: setup
	$(NOTE_WITHOUT_BROWSER)
	PYTHONSAFEPATH=1 KRAFTCTL_UNDER_TEST=compiled $(BIN)/pytest $(if $(CHROMIUM),,-m "not browser") $(PYTEST_ARGS)

test-pure: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) KRAFTCTL_UNDER_TEST=sources $(BIN)/pytest -m "not java and not interop and not spark and not slow and not browser and not wheel and not long" $(PYTEST_ARGS)

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
	PYTHONPATH=$(SOURCES) $(BIN)/python -m kraftctl_codegen.api_table docs/apis.md
	PYTHONPATH=$(SOURCES) $(BIN)/python -m kraftctl_codegen.commands
	PYTHONPATH=$(SOURCES) $(BIN)/python -m kraftctl inspect metrics --output markdown > docs/metrics.md
	PYTHONPATH=$(SOURCES) $(BIN)/python -m kraftctl_spark.monitoring.metric_page > spark/METRICS.md
	PYTHONPATH=$(SOURCES) $(BIN)/python -m kraftctl inspect configs --output markdown > docs/reference/configs.md
	$(BIN)/python tests/defect_tables.py docs/reliability.md

# Java's controller, the same without linger, and kraftctl. For a quick look: BENCH_ARGS="--only heartbeats --rounds 1"
bench: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/compare/run.py $(BENCH_ARGS)

# One and two million partitions, and the failure of a broker with 99,900.
bench-full: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/compare/run.py --full $(BENCH_ARGS)

# The table, the plot and the data of docs/performance.md, from the last run of both.
bench-publish: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/compare/publish.py $(BENCH_ARGS)

# Codec and image, without a controller.
bench-core: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/core.py $(BENCH_ARGS)

bench-failover: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/failover.py $(BENCH_ARGS)

# A controller with SSL beside one with PLAINTEXT: heartbeats, connections, memory.
bench-ssl: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/ssl_cost.py $(BENCH_ARGS)

bench-audit: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/audit_cost.py $(BENCH_ARGS)

# For a quick look: BENCH_ARGS="--records 500000 --runs 1"
bench-export: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/export.py $(BENCH_ARGS)

# For a quick look: BENCH_ARGS="--partitions 100000 --only brokers"
bench-scale: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/bench/scale.py $(BENCH_ARGS)

# The pages as a site in build/site: fails for a broken link, and for a page that no section of mkdocs.yml has.
.PHONY: site
site: $(STAMPS)/dev
	$(BIN)/mkdocs build --strict

# Writes the lock files again: exact versions and hashes, and no index. Versions stay as they are where they may:
# LOCK_ARGS=--upgrade takes the newest, LOCK_ARGS="--upgrade-package NAME" that of one.
LOCK_ARGS ?=
LOCK := $(BIN)/uv pip compile -q --fork-strategy fewest --python $(BIN)/python --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml
lock: $(STAMPS)/dev
	$(LOCK) $(LOCK_ARGS) --extra build --extra dev --extra spark --extra report --extra console --extra delta --extra iceberg -o requirements-dev.lock
	$(LOCK) --extra build -c requirements-dev.lock -o requirements.lock
	$(LOCK) -c requirements-dev.lock -o requirements-run.lock
	$(LOCK) --extra spark --extra export -c requirements-dev.lock -o requirements-export.lock
	$(LOCK) --extra build --extra spark --extra report --extra completion --extra console --extra delta --extra iceberg --resolution lowest-direct --upgrade -o requirements-lowest.lock

# What the lock files pin: known vulnerabilities (`python -m tests.supply_chain.audit` ends with 3 if no service could be
# asked; make has 2 for any failure), licences, and a bill of materials of what kraftctl runs with.
.PHONY: audit licences sbom
AUDIT_ARGS ?=
audit: $(STAMPS)/dev
	@$(BIN)/python -m tests.supply_chain.audit $(AUDIT_ARGS)

licences: $(STAMPS)/dev
	@$(BIN)/python -m tests.supply_chain.licences

sbom: $(STAMPS)/dev
	@$(BIN)/python -m tests.supply_chain.sbom requirements-run.lock build/sbom/kraftctl.cdx.json

# Of HEAD, compiled as a release unless KRAFTCTL_PURE=1: docs/operations/releases.md.
.PHONY: release deb rpm dist-check
RELEASE_ARGS ?=
release: $(STAMPS)/dev
	rm -rf dist
	KRAFTCTL_PURE=$(or $(KRAFTCTL_PURE),0) KRAFTCTL_OPT_LEVEL=3 PYTHONPATH=$(SOURCES) \
		$(BIN)/python -m tests.supply_chain.release --requirements build/requirements $(RELEASE_ARGS)

deb: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) $(BIN)/python -m tests.supply_chain.package deb dist

rpm: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) $(BIN)/python -m tests.supply_chain.package rpm dist

DIST_CHECK_ARGS ?=
dist-check: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) $(BIN)/python -m tests.supply_chain.dist_check $(DIST_CHECK_ARGS) dist

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# Plants each fault of tests/faults/catalogue.py into a copy of the sources; FAULTS="name name" selects some.
.PHONY: faults
FAULTS ?=
faults: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) $(BIN)/python tests/faults/run.py $(FAULTS)

# Plants each fault of tests/faults/simulator_catalogue.py, and expects the simulator to notice it.
.PHONY: simulate-faults
simulate-faults: $(STAMPS)/dev
	PYTHONPATH=$(SOURCES) $(BIN)/python tests/faults/simulate.py $(FAULTS)

# Whole controllers on one virtual clock, with faults: RUNS seeds from SEED on (or MINUTES of them), of a PROFILE.
# A find prints KEEP and CALM: the faults that it needs. 500 mixed runs or more fail unless they reach every type of
# record and every API, those that are rare from 3,000 on.
.PHONY: simulate
RUNS ?= $(if $(MINUTES),0,100)
MINUTES ?=
SEED ?=
PROFILE ?= mixed
KEEP ?=
CALM ?=
simulate: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/soak/simulate.py --runs $(RUNS) --profile $(PROFILE) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep $(KEEP)) $(if $(CALM),--calm $(CALM))

# Real controllers and brokers, with faults; a find prints the line that repeats it, and keeps the directories.
.PHONY: test-chaos
PLANT ?=
CHAOS_ARGS ?=
test-chaos: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/chaos/run.py --minutes $(or $(MINUTES),1) $(if $(SEED),--seed $(SEED)) \
		$(if $(PLANT),--plant $(PLANT)) $(CHAOS_ARGS)

# Brokers, controllers and tools of each release of Kafka: MATRIX="levels every_tool" selects parts. Once all have
# passed, writes the tables of docs/versions.md.
.PHONY: test-matrix
MATRIX ?=
test-matrix: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/matrix/run.py $(MATRIX)

# All kinds of chaos in turn, for kraftctl and Kafka's own controllers: figures in build/reliability, which add up
# for one commit, and in docs/reliability-report.md; REPORT_ARGS=--replace replaces a page of more runs.
.PHONY: reliability-report
REPORT_ARGS ?=
reliability-report: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/chaos/report.py --hours $(or $(HOURS),1) $(if $(SEED),--seed $(SEED)) $(REPORT_ARGS)

# Attacks a compiled controller with hand-made bytes, and fails when its brokers notice: ATTACK_ARGS="--only quotas".
.PHONY: attack
ATTACK_ARGS ?=
attack: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/attack/run.py $(ATTACK_ARGS)

# Frames, batches and directories that no program writes, with limits of time and memory for each:
# FUZZ="requests batches" selects some, FRAMES=10000000 feeds each so many, whatever time that takes. The bytes of
# a find are written to build/fuzz.
.PHONY: fuzz
FUZZ ?=
fuzz: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/soak/fuzz.py --corpus build/fuzz $(if $(SEED),--seed $(SEED)) \
		$(if $(FRAMES),--frames $(FRAMES),--minutes $(or $(MINUTES),1)) $(FUZZ)

# The long random tests: SOAK="raft export" selects some, SOAK_ARGS="--seed 7 --minutes 30" sets seed and duration.
.PHONY: soak soak-export
SOAK ?=
SOAK_ARGS ?=
soak: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/soak/run.py $(SOAK_ARGS) $(SOAK)

# Kills an export 100 times while a controller's log grows; SOAK_ARGS="--kills 20 --seed 7" changes the run.
soak-export: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/spark/soak/run.py $(SOAK_ARGS)

# The same seeded random calls on Kafka's own controller and on kraftctl, CALLS of them or for MINUTES: a find is repeated
# with the fewest calls. KAFKA=4.4.0 takes another release, DIFFERENTIAL_ARGS="--release 4.1-IV0" one metadata.version.
.PHONY: differential
CALLS ?=
KAFKA ?= 4.3.1
DIFFERENTIAL_ARGS ?=
differential: setup
	PYTHONSAFEPATH=1 $(BIN)/python tests/differential/run.py --kafka $(KAFKA) $(if $(SEED),--seed $(SEED)) \
		$(if $(CALLS),--calls $(CALLS)) $(if $(MINUTES),--minutes $(MINUTES)) $(DIFFERENTIAL_ARGS)
