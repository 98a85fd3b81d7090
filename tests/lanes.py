"""The suite in lanes: parts that run in parallel, each an ordinary pytest run. Two run at a time, and a third
one that knows no clock takes what they leave of the processor.

`lanes.py quick`, `lanes.py test` or `lanes.py long`, then pytest's options except paths and -m;
`--without-browser` leaves out tests that need Chromium. Every test is in one lane of `test`, or of `long`
if it is marked so. Output lines are prefixed with the name of their lane.
The last ones say which tests failed, and the result.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

AT_A_TIME = 2
"""One core each, and memory for one cluster of brokers and one Spark. With three, tests that wait for
elections, or for responses within a time-out, fail now and then."""

BEHIND = ("nice", "-n", "10")
"""Before the command of a lane that takes what the others leave: half a core, most of the time. At a lower
priority a test waits for minutes while two others compile or run Spark."""

NOTHING_COLLECTED = 5
"""Pytest's exit status when a selection leaves no test of a lane."""

WITHOUT_BROWSER = "--without-browser"

PURE = "not java and not interop and not spark and not slow and not browser and not wheel and not long"

QUICK_MARKERS = f"{PURE} and not quorum"
"""Whole quorums on a virtual clock take four fifths of the processor time of the core's tests."""

QUICK_EFFORT = "0.125"


@dataclass(frozen=True)
class Lane:
    """Some of the tests, against compiled code or the sources."""

    name: str
    arguments: tuple[str, ...]
    ports: str
    """First and last + 1: lanes do not take each other's ports."""
    markers: str = "not long"
    """The selected tests, as pytest's -m."""
    compiled: bool = True
    effort: str = "1"
    seed: int = 0
    behind: bool = False
    """Runs beside two others, at a lower priority: its tests compute, and wait for nothing."""


CORE = ("tests/raft", "tests/node", "tests/kafkas_bugs")

CODEC = ("tests/protocol", "tests/image", "tests/metadata", "tests/kips", "tests/test_config.py")

RULES = ("tests/controller",)

QUICK = (
    Lane("rules", ("-q", *RULES), "12800-13000", QUICK_MARKERS, compiled=False, effort=QUICK_EFFORT),
    Lane("core", ("-q", *CORE), "12600-12800", QUICK_MARKERS, compiled=False, effort=QUICK_EFFORT),
    Lane("codec", ("-q", *CODEC), "12400-12600", QUICK_MARKERS, compiled=False, effort=QUICK_EFFORT),
)

EXPORTS = tuple(
    f"tests/spark/test_{name}.py"
    for name in ("export", "export_demo", "sink", "soak_export", "standalone_cluster")
)
"""Half of the time that tests with Spark take."""

QUORUMS = tuple(
    f"tests/interop/test_{name}.py"
    for name in (
        "kraft_version",
        "mixed_quorum",
        "move_from_kafka",
        "moved_voters",
        "quorum_command",
        "several_controllers",
    )
)
"""More than half of the time that tests with brokers take: several controllers, often of both kinds."""

APART = ("tests/interop", "tests/spark", "tests/faults", "tests/attack", "tests/chaos", "tests/simulator")
"""The folders that no other lane names."""

NEVER_COMPILED = (
    *(f"tests/{name}" for name in ("attack", "bench", "chaos", "cli", "clients", "console", "dev")),
    *(
        f"tests/{name}"
        for name in ("differential", "explain", "faults", "kubernetes", "matrix", "operate", "packaging")
    ),
    *(f"tests/{name}" for name in ("security", "soak", "spark", "supply_chain")),
    *(
        f"tests/test_{name}.py"
        for name in ("compose", "fields", "import_contracts", "kafkas_sentences", "lanes", "pages")
    ),
    *(
        f"tests/test_{name}.py"
        for name in ("reliability_docs", "repository_files", "tidy", "troubleshooting")
    ),
    *(f"tests/server/security/test_{name}.py" for name in ("hostile_reloading", "store_reader")),
    "tests/storage/test_file_errors.py",
    *(f"tests/record_types/test_{name}.py" for name in ("exporter", "new_type")),
)
"""What these test is never compiled, or is the calls of processes: lanes `others`, `spark`, `faults` and
`attacks` run the same."""

WHOLE_QUORUMS = tuple(
    f"tests/simulator/test_{name}.py"
    for name in (
        "clients",
        "flush_and_truncation",
        "operator",
        "rare_sequences",
        "responses_in_runs",
        "rot",
    )
)
"""What takes longest from source; random runs of all profiles are tested from source nevertheless."""

SIMULATION = "tests/simulator/test_random_seeds.py"
"""Minutes of it, and one process."""

TEST = (
    Lane(
        "sources",
        (
            "-q",
            "tests",
            *(f"--ignore={path}" for path in (*NEVER_COMPILED, *WHOLE_QUORUMS, *CORE, *CODEC, *RULES)),
        ),
        "28000-32000",
        PURE,
        compiled=False,
        effort="0.25",
        seed=500,
    ),
    *(replace(lane, seed=500, behind=True) for lane in QUICK),
    Lane(
        "pure",
        (*CORE, *CODEC, *RULES, "tests/simulator", f"--ignore={SIMULATION}"),
        "23000-24000",
        effort="0.5",
        behind=True,
    ),
    Lane("simulator", ("-s", SIMULATION), "32700-32701", behind=True),
    Lane("faults", ("tests/faults",), "32000-32500", behind=True),
    Lane(
        "others",
        ("tests", *(f"--ignore={path}" for path in (*APART, *CORE, *CODEC, *RULES))),
        "24000-28000",
        effort="0.5",
    ),
    Lane("spark", ("tests/spark", *(f"--ignore={file}" for file in EXPORTS)), "20000-23000"),
    Lane("interop", ("tests/interop", *(f"--ignore={file}" for file in QUORUMS)), "16000-20000"),
    Lane("attacks", ("-s", "tests/attack", "tests/chaos"), "32500-32700"),
    Lane("exports", EXPORTS, "13000-16000"),
    Lane("quorums", QUORUMS, "10000-12000"),
)
"""Those of the sources run while `BUILD` compiles; then the longest first, so that no long lane runs alone at
the end. The sources use other seeds than compiled code, and half as many or less: equal seeds would find
the same."""

LONG = (
    Lane(
        "quorum",
        ("-q", *CORE, *CODEC, *RULES),
        "12200-12400",
        f"{PURE} and quorum",
        compiled=False,
        effort="0.25",
        seed=500,
    ),
    Lane("exports", ("tests/spark",), "13000-16000", "long"),
    Lane("quorums", ("tests/interop",), "10000-12000", "long"),
    Lane("faults", ("tests/faults",), "32000-32500", "long"),
    Lane("others", ("tests", *(f"--ignore=tests/{name}" for name in ("interop", "spark", "faults"))),
         "24000-28000", "long"),
)  # fmt: skip

TIERS = {"quick": QUICK, "test": TEST, "long": LONG}

BUILD = ("make", "--no-print-directory", "setup")
"""Run first where a lane tests compiled code."""

CLASS_ARCHIVE = "tests.support.processes.class_archive"
"""Run next, for all lanes: a broker starts with 1.2 s of processor time instead of 2.1 s, a tool with 0.6 s
instead of 1.1 s."""

SOURCES = ".:protocol:spark"


@dataclass(frozen=True)
class Outcome:
    """The result of a lane, or of the build: exit status and last line, and lines about tests that failed."""

    name: str
    status: int
    line: str
    failures: list[str]
    elapsed_s: float


def environment(lane: Lane) -> dict[str, str]:
    """The variables that `make test-compiled` and `make test-pure` set."""
    variables = {
        **os.environ,
        "KRAFTCTL_TEST_EFFORT": lane.effort,
        "KRAFTCTL_TEST_SEED": str(lane.seed),
        "KRAFTCTL_TEST_PORTS": lane.ports,
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "200",
    }
    if lane.compiled:
        return {**variables, "KRAFTCTL_UNDER_TEST": "compiled", "PYTHONSAFEPATH": "1"}
    return {**variables, "KRAFTCTL_UNDER_TEST": "sources", "PYTHONPATH": SOURCES}


def build() -> Outcome:
    """Compiles what the compiled lanes test, and prepares what starts brokers quickly."""
    kept = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    outcome = printed_as("build", list(BUILD), kept)
    archive = [sys.executable, "-m", CLASS_ARCHIVE]
    if outcome.status == 0:
        subprocess.run(archive, cwd=ROOT, env={**os.environ, "PYTHONPATH": SOURCES}, check=False)
    return outcome


def run(lane: Lane, options: list[str], built: Future[Outcome] | None) -> Outcome:
    if lane.compiled and built is not None and built.result().status != 0:
        return Outcome(lane.name, 1, "not run", [], 0.0)
    command = [
        *(BEHIND if lane.behind else ()),
        *(sys.executable, "-m", "pytest", "-o", f"cache_dir=.pytest_cache/{lane.name}", "-m", lane.markers),
    ]
    return printed_as(lane.name, [*command, *lane.arguments, *options], environment(lane))


def printed_as(name: str, command: list[str], variables: dict[str, str]) -> Outcome:
    """Runs the command, and prints its lines with the name before each."""
    began = time.monotonic()
    line = ""
    failures = []
    with subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for printed in process.stdout:
            line = printed.strip() or line
            if printed.startswith(("FAILED ", "ERROR ")):
                failures.append(line)
            with _printing:
                print(f"{name:>9} | {printed}", end="", flush=True)
    return Outcome(name, process.returncode, line.strip("= "), failures, time.monotonic() - began)


_printing = threading.Lock()


def main() -> int:
    tier, *options = [word for word in sys.argv[1:] if word != WITHOUT_BROWSER] or ["none"]
    lanes = TIERS.get(tier, ())
    if WITHOUT_BROWSER in sys.argv:
        lanes = tuple(
            replace(lane, markers=f"{lane.markers} and not browser") if lane.compiled else lane
            for lane in lanes
        )
    if not lanes:
        raise SystemExit(f"lanes.py {'|'.join(TIERS)} [PYTEST OPTION ...]")
    began = time.monotonic()
    with ThreadPoolExecutor(AT_A_TIME) as pool, ThreadPoolExecutor(1) as beside:
        built = pool.submit(build) if any(lane.compiled for lane in lanes) else None
        begun = [(beside if lane.behind else pool).submit(run, lane, options, built) for lane in lanes]
        outcomes = [each.result() for each in begun]
    print()
    if built is not None:
        report(built.result())
    for outcome in outcomes:
        report(outcome)
    for outcome in outcomes:
        for failure in outcome.failures:
            print(f"{outcome.name:>9}  {failure}")
    failed = [one.name for one in outcomes if one.status not in (0, NOTHING_COLLECTED)]
    if all(one.status == NOTHING_COLLECTED for one in outcomes):
        failed.append("no test was selected")
    verdict = f"FAILED: {', '.join(failed)}" if failed else "all passed"
    print(f"{len(outcomes)} lanes in {time.monotonic() - began:.0f} s: {verdict}")
    return 1 if failed else 0


def report(outcome: Outcome) -> None:
    print(f"{outcome.name:>9}  {outcome.elapsed_s:4.0f} s  {outcome.line}")


if __name__ == "__main__":
    sys.exit(main())
