"""Runs a scenario: all subjects are started, and then measured in turn, round after round.

Whatever disturbs the machine for a while so disturbs all of them. The others are suspended meanwhile.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kraftctl.dev.processes import ProcessFailedError
from tests.bench.compare.figures import Figures
from tests.bench.compare.load_process import LoadFailedError
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import Load, Measure, Scenario
from tests.bench.compare.subjects import Subject, identities


@dataclass(frozen=True)
class Pace:
    """How long a run takes."""

    rounds: int
    window_s: float
    warm_up_s: float


@dataclass(frozen=True)
class Sample:
    """One window."""

    scenario: str
    load: str
    subject: str
    round: int
    figures: Figures


@dataclass
class Prepared:
    """A subject with its cluster."""

    subject: Subject
    running: Running
    state: Any

    @contextmanager
    def at_work(self) -> Iterator[None]:
        self.running.resume()
        try:
            yield
        finally:
            self.running.pause()


FAILURES: Final = (OSError, ValueError, AssertionError, TimeoutError, ProcessFailedError, LoadFailedError)
"""Of one subject, or of one scenario: others are measured all the same."""


def measure(
    scenario: Scenario,
    subjects: Sequence[Subject],
    loads: Sequence[Load],
    directory: Path,
    pace: Pace,
    on_failure: Callable[[str], None],
) -> Iterator[Sample]:
    """All rounds of these loads, with those of the subjects that can be prepared and do not fail."""
    with ExitStack() as stack:
        prepared = [
            one
            for subject in subjects
            if (one := _prepared(stack, scenario, subject, directory, on_failure)) is not None
        ]
        if scenario.first is not None:
            # Its rounds are left out.
            list(_rounds(scenario, scenario.first, prepared, dataclasses.replace(pace, rounds=0), on_failure))
        for load in loads:
            yield from _rounds(scenario, load, prepared, pace, on_failure)


def _prepared(
    stack: ExitStack,
    scenario: Scenario,
    subject: Subject,
    directory: Path,
    on_failure: Callable[[str], None],
) -> Prepared | None:
    """The subject, suspended; None when it cannot be prepared."""
    home = directory / scenario.name / subject.name
    controllers = [
        subject.create(home / str(identity.node_id), scenario.settings, scenario.heap, identity)
        for identity in identities(scenario.voters)
    ]
    running = Running(controllers)
    stack.callback(running.kill)
    try:
        running.__enter__()
        one = Prepared(subject, running, scenario.prepare(running))
    except FAILURES as error:
        on_failure(f"{scenario.name}: {subject.name}: {type(error).__name__}: {error}")
        running.kill()
        return None
    running.pause()
    return one


def _rounds(
    scenario: Scenario,
    load: Load,
    prepared: list[Prepared],
    pace: Pace,
    on_failure: Callable[[str], None],
) -> Iterator[Sample]:
    """Removes those from `prepared` that fail."""
    measures: dict[str, Measure] = {}

    def attempt(one: Prepared, window_s: float) -> Figures | None:
        try:
            with one.at_work():
                if one.subject.name not in measures:
                    measures[one.subject.name] = stack.enter_context(load.open(one.state))
                return measures[one.subject.name](window_s)
        except FAILURES as error:
            on_failure(f"{scenario.name}: {load.name}: {one.subject.name}: {type(error).__name__}: {error}")
            one.running.kill()
            prepared.remove(one)
            return None

    with ExitStack() as stack:
        for one in list(prepared):
            attempt(one, pace.warm_up_s)
        for number in range(min(pace.rounds, load.rounds_max)):
            for one in list(prepared):
                if (figures := attempt(one, pace.window_s)) is not None:
                    sample = Sample(scenario.name, load.name, one.subject.name, number, figures)
                    print(_line(sample), file=sys.stderr, flush=True)
                    yield sample
        for one in prepared:
            one.running.resume()
    for one in prepared:
        one.running.pause()


def _line(sample: Sample) -> str:
    figures = " ".join(f"{name}={value:.4g}" for name, value in sample.figures.items())
    return f"{sample.scenario} | {sample.load} | {sample.subject} | {sample.round} | {figures}"
