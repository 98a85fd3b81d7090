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
from tests.bench.compare.subjects import Subject


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
    """All rounds of these loads, with those of the subjects whose cluster can be prepared."""
    with ExitStack() as stack:
        prepared = []
        for subject in subjects:
            home = directory / scenario.name / subject.name
            controller = subject.create(home, scenario.settings, scenario.heap)
            running = stack.enter_context(Running(controller))
            try:
                prepared.append(Prepared(subject, running, scenario.prepare(running)))
            except FAILURES as error:
                on_failure(f"{scenario.name}: {subject.name}: {type(error).__name__}: {error}")
                running.controller.kill()
            else:
                running.pause()
        if scenario.first is not None:
            # Its rounds are left out.
            list(_rounds(scenario, scenario.first, prepared, dataclasses.replace(pace, rounds=0)))
        for load in loads:
            yield from _rounds(scenario, load, prepared, pace)


def _rounds(scenario: Scenario, load: Load, prepared: Sequence[Prepared], pace: Pace) -> Iterator[Sample]:
    measures: list[tuple[Prepared, Measure]] = []
    with ExitStack() as stack:
        for one in prepared:
            with one.at_work():
                measures.append((one, stack.enter_context(load.open(one.state))))
                measures[-1][1](pace.warm_up_s)
        for number in range(min(pace.rounds, load.rounds_max)):
            for one, window in measures:
                with one.at_work():
                    figures = window(pace.window_s)
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
