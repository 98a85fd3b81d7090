"""`make bench` with few brokers, kraftctl alone: each answer is as expected. No time counts."""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from tests.bench.compare import markdown, publish
from tests.bench.compare.counted import Counted
from tests.bench.compare.downloads import expect
from tests.bench.compare.figures import FIGURES, Figures
from tests.bench.compare.frames import UnexpectedResponseError, answer_frame
from tests.bench.compare.interleaved import Pace, Sample, measure
from tests.bench.compare.observer_lag import lags_ms
from tests.bench.compare.results import Results, read_results
from tests.bench.compare.run import ALL
from tests.bench.compare.scenario import Load, Measure, Scenario
from tests.bench.compare.scenarios import (
    alter_partition,
    broker_failure,
    connections,
    create_topics,
    heartbeats,
    idle,
    large_cluster,
    quorum,
)
from tests.bench.compare.scripts import Repeated
from tests.bench.compare.subjects import KRAFTCTL, SUBJECTS
from tests.bench.compare.targets import FORCED_WRITE, TARGETS

BROKERS = 6
SOME_PARTITIONS = 2_000
PACE = Pace(rounds=2, window_s=0.1, warm_up_s=0.1)


REST = [pytest.mark.slow, pytest.mark.long]
"""The same harness, with other scripts."""

SMALL = (
    pytest.param(
        dataclasses.replace(
            alter_partition.SCENARIO,
            prepare=partial(alter_partition.prepare, brokers=BROKERS),
            loads=(alter_partition.load(1, 1, 0), alter_partition.load(1, 10, 3)),
            first=alter_partition.load(BROKERS, 10, 0),
        ),
        id="alter-partition",
        marks=pytest.mark.slow,
    ),
    pytest.param(
        dataclasses.replace(
            heartbeats.SCENARIO,
            prepare=partial(heartbeats.prepare, brokers=BROKERS),
            loads=(heartbeats.load(BROKERS),),
        ),
        id="heartbeats",
        marks=REST,
    ),
    pytest.param(
        dataclasses.replace(
            create_topics.SCENARIO,
            prepare=partial(create_topics.prepare, brokers=BROKERS),
            loads=(create_topics.load(create_topics.Wanted(2, 3, 4), warm_up_rounds=1),),
        ),
        id="create-topics",
        marks=REST,
    ),
    pytest.param(
        dataclasses.replace(
            broker_failure.SCENARIO,
            prepare=partial(broker_failure.prepare, brokers=BROKERS),
            loads=(broker_failure.load(30, warm_up_rounds=1),),
        ),
        id="broker-failure",
        marks=REST,
    ),
    pytest.param(
        dataclasses.replace(
            idle.SCENARIO,
            prepare=partial(idle.prepare, brokers=BROKERS),
            loads=(idle.load(BROKERS),),
        ),
        id="idle",
        marks=REST,
    ),
    pytest.param(
        dataclasses.replace(connections.SCENARIO, loads=(connections.load(0), connections.load(BROKERS))),
        id="connections",
        marks=REST,
    ),
    pytest.param(
        dataclasses.replace(
            quorum.SCENARIO,
            prepare=partial(quorum.prepare, brokers=BROKERS),
            loads=(quorum.load_changes(2), quorum.load_creations(3)),
            first=None,
        ),
        id="quorum",
        marks=REST,
    ),
    pytest.param(quorum.FAILOVER, id="failover", marks=REST),
    pytest.param(
        large_cluster.scenario(
            "log",
            "log",
            (large_cluster.load_memory(), large_cluster.load_replication(2), large_cluster.load_start()),
            {},
            SOME_PARTITIONS,
        ),
        id="log",
        marks=REST,
    ),
    pytest.param(
        large_cluster.scenario(
            "snapshot",
            "snapshot",
            (large_cluster.load_snapshot(2),),
            {large_cluster.SNAPSHOT_BYTES: "10000"},
            SOME_PARTITIONS,
        ),
        id="snapshot",
        marks=REST,
    ),
)


FLOORS = {scenario.values[0].name: set(scenario.values[0].subjects) - set(SUBJECTS) for scenario in SMALL}


def refuse(failure: str) -> None:
    raise AssertionError(failure)


@pytest.mark.parametrize("scenario", SMALL)
def test_every_answer_is_as_expected(tmp_path: Path, scenario: Scenario) -> None:
    samples = list(
        measure(scenario, [KRAFTCTL, *FLOORS[scenario.name]], scenario.loads, tmp_path, PACE, refuse)
    )
    assert {(sample.load, sample.round) for sample in samples} == {
        (load.name, number) for load in scenario.loads for number in range(min(PACE.rounds, load.rounds_max))
    }
    for sample in samples:
        assert min(sample.figures.values()) >= 0, sample
        assert max(sample.figures.values()) > 0, sample


def test_an_answer_that_differs_is_refused() -> None:
    fine = answer_frame(BrokerHeartbeatResponse(is_fenced=False), 1)
    script = Repeated(b"", fine, BrokerHeartbeatResponse.API_KEY, 1)
    script.check(fine)
    with pytest.raises(UnexpectedResponseError, match="error_code=77"):
        script.check(answer_frame(BrokerHeartbeatResponse(error_code=77, is_fenced=False), 1))


def test_a_part_of_a_download_is_compared_with_the_file() -> None:
    assert expect(b"abcdef", 2, b"cd") == 4
    for position, part in ((1, b"cd"), (4, b"efg"), (6, b"")):
        with pytest.raises(UnexpectedResponseError, match=f"position {position}"):
            expect(b"abcdef", position, part)


@pytest.mark.parametrize("count", [1, 2, 100])
def test_a_value_counts_on_in_encoded_bytes(count: int) -> None:
    def encode(value: int) -> bytes:
        return b"head" + b"".join(b"between" + value.to_bytes(4, "big") for _ in range(count)) + b"end"

    counted = Counted(encode)
    for value in (0, 1, 255, 256, 70_000, 2**31 - 1, 3):
        assert counted.at(value) == encode(value)


def test_a_page_gets_targets_and_a_plot(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"before\n{publish.BEGIN}old\n{publish.END}after\n")
    samples = [
        Sample("heartbeats", "100 brokers", subject, 0, {"per_s": per_s, "processor_us": 1e6 / per_s})
        for subject, per_s in {"java-linger-0": 100.0, "kraftctl": 125.0, "echo": 500.0}.items()
    ]
    publish.publish(Results({"when": "now"}, samples), page)
    lines = page.read_text().splitlines()
    verdicts = [line.split(" | ")[-3:] for line in lines if "x Java" in line or "x the echo" in line]
    assert verdicts == [
        ["1.25", ">= 1 x Java, linger 0", "met |"],
        ["0.80", "<= 0.85 x Java, linger 0", "met |"],
        ["4.00", "<= 1.5 x the echo", "**missed** |"],
    ]
    assert (lines[0], lines[-1], "old" in lines) == ("before", "after", False)
    bars = ElementTree.parse(page.with_suffix(".svg")).iter("{http://www.w3.org/2000/svg}rect")
    assert [bar.get("width") for bar in bars if bar.get("height") == "9"] == ["130.0", "104.0", "26.0"]
    assert read_results(page.with_suffix(".json")).samples == samples


def test_each_target_is_of_a_load_that_is_measured() -> None:
    measured = {(scenario.name, load.name) for scenario in ALL.values() for load in scenario.loads}
    assert {(target.scenario, target.load) for target in TARGETS} <= measured
    assert {target.figure for target in TARGETS} <= set(FIGURES)


def test_a_latency_is_at_most_a_forced_write_and_a_little() -> None:
    target = TARGETS[0]
    assert target.is_met(0.3, 0.0, {FORCED_WRITE: "0.05"})
    assert not target.is_met(0.31, 0.0, {FORCED_WRITE: "0.05"})
    assert target.is_met(0.55, 0.0, {FORCED_WRITE: "0.5"})


def test_the_lag_of_an_observer_is_that_of_its_fetch_with_the_end_of_a_change() -> None:
    answered_s = array("d", [1.0, 2.0, 3.0])
    prompt = array("d", [100, 0.5, 102, 0.75, 104, 2.25])
    lazy = array("d", [101, 1.0, 103, 1.5, 106, 3.5])
    assert list(lags_ms(100, 2, answered_s, [prompt, lazy])) == [0.0, 250.0, 500.0, 1_500.0, 500.0]


def test_runs_are_joined() -> None:
    first = Results(
        {"when": "today", "kafka": "4.3.1", FORCED_WRITE: "0.2"}, [Sample("s", "l", "java", 0, {})]
    )
    second = Results(
        {"when": "later", "kafka": "4.3.1", FORCED_WRITE: "0.3"}, [Sample("t", "l", "java", 0, {})], ["no"]
    )
    found = publish.joined([first, second])
    assert found.about == {"when": "today; later", "kafka": "4.3.1", FORCED_WRITE: "0.2"}
    assert [sample.scenario for sample in found.samples] == ["s", "t"]
    assert found.failures == ["no"]


def test_one_subject_that_fails_leaves_the_others(tmp_path: Path) -> None:
    fails = dataclasses.replace(heartbeats.ECHO, name="fails")

    @contextmanager
    def opened(name: str) -> Iterator[Measure]:
        windows = count()

        def measured(_: float) -> Figures:
            if name == fails.name and next(windows) == 1:
                raise TimeoutError("too slow")
            return {"per_s": 1.0}

        yield measured

    scenario = Scenario(
        name="some",
        title="",
        prepare=lambda running: running.controller.directory.parent.name,
        loads=(Load("first", opened), Load("second", opened)),
        settings={},
        subjects=(fails, heartbeats.ECHO),
    )
    failures: list[str] = []
    found = measure(scenario, scenario.subjects, scenario.loads, tmp_path, PACE, failures.append)
    assert [(sample.load, sample.subject, sample.round) for sample in found] == [
        (load, "echo", number) for load in ("first", "second") for number in range(PACE.rounds)
    ]
    assert failures == ["some: first: fails: TimeoutError: too slow"]


def test_medians_are_printed_beside_each_other(tmp_path: Path) -> None:
    rounds = {"java-linger-0": (3.0, 9.0, 4.0), "kraftctl": (1.0, 2.0, 7.0)}
    samples = [
        Sample("s", "l", subject, number, {"processor_us": value})
        for subject, values in rounds.items()
        for number, value in enumerate(values)
    ]
    Results({"when": "now"}, samples).write(tmp_path / "results.json")
    found = read_results(tmp_path / "results.json")
    assert markdown.table(found, "s").splitlines()[-1] == "| l | processor time each (us) | 4 | 2 | 0.50 |"
