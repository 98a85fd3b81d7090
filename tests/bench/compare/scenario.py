"""A scenario: a cluster that is prepared once for each subject, and loads that are measured on it in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from tests.bench.compare.figures import Figures
from tests.bench.compare.running import Running
from tests.bench.compare.subjects import JVM_HEAP, SUBJECTS, Subject

Measure = Callable[[float], Figures]
"""Runs a load for so many seconds, if its length is not given by what it does."""

LONG_SESSION: Final = {"broker.session.timeout.ms": "3600000", "connections.max.idle.ms": "3600000"}
"""Brokers stay unfenced and connections open while the controller is suspended for others."""

ROUNDS_MAX: Final = 1_000


@dataclass(frozen=True)
class Load:
    """`open` connects, with what the scenario has prepared. The first window warms up and does not count."""

    name: str
    open: Callable[[Any], AbstractContextManager[Measure]]
    rounds_max: int = ROUNDS_MAX


@dataclass(frozen=True)
class Scenario:
    """`prepare` returns what `Load.open` needs."""

    name: str
    title: str
    prepare: Callable[[Running], Any]
    loads: Sequence[Load]
    settings: Mapping[str, str]
    subjects: Sequence[Subject] = SUBJECTS
    heap: str = JVM_HEAP
    voters: int = 1
    first: Load | None = None
    """Before all others, not measured: a JVM compiles what is hot, and few requests heat little."""
