"""What kraftctl is to reach beside Java's controller without linger, measured in the same run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.compare.figures import FIGURES
from tests.bench.compare.markdown import BASE, MEASURED, number, ratio
from tests.bench.compare.results import Results

FLOOR: Final = "echo"
FORCED_WRITE: Final = "forced_write_ms"
"""In `Results.about`: one append and its fdatasync, on the disk of the run."""
BEYOND_FORCED_WRITE_MS: Final = 0.1


@dataclass(frozen=True)
class Target:
    """A bound of a figure of kraftctl divided by that of `of`, or of the figure itself."""

    scenario: str
    load: str
    figure: str
    at_least: float | None = None
    at_most: float | None = None
    at_most_itself: float | None = None
    of: str = BASE

    def bound(self, about: dict[str, str]) -> str:
        if self.at_most_itself is not None:
            return f"<= {self._itself(about):.3g} {FIGURES[self.figure].unit}"
        whose = "the echo" if self.of == FLOOR else "Java, linger 0"
        sign, value = (">=", self.at_least) if self.at_least is not None else ("<=", self.at_most)
        return f"{sign} {value:g} x {whose}"

    def is_met(self, measured: float, compared: float, about: dict[str, str]) -> bool:
        if self.at_most_itself is not None:
            return measured <= self._itself(about)
        if self.at_least is not None:
            return measured >= self.at_least * compared
        assert self.at_most is not None
        return measured <= self.at_most * compared

    def _itself(self, about: dict[str, str]) -> float:
        """For a latency: or one forced write and a little, where that is more."""
        assert self.at_most_itself is not None
        return max(self.at_most_itself, float(about.get(FORCED_WRITE, 0)) + BEYOND_FORCED_WRITE_MS)


def _processor(scenario: str, load: str, at_most: float) -> Target:
    return Target(scenario, load, "processor_us", at_most=at_most)


def _both(scenario: str, load: str, at_least: float, at_most: float) -> tuple[Target, Target]:
    """Operations per second, and processor time for each."""
    return Target(scenario, load, "per_s", at_least=at_least), _processor(scenario, load, at_most)


def _download(scenario: str, load: str, at_least: float) -> Target:
    return Target(scenario, load, "mb_per_s", at_least=at_least)


TARGETS: Final[tuple[Target, ...]] = (
    Target("alter-partition", "1 broker x 1, 20 observers", "p50_ms", at_most_itself=0.30),
    _processor("alter-partition", "1 broker x 1, 20 observers", 0.9),
    *_both("alter-partition", "20 brokers x 1", 1.3, 0.7),
    *_both("alter-partition", "100 brokers x 1", 1.3, 0.5),
    *_both("alter-partition", "20 brokers x 100", 1.3, 0.45),
    *_both("alter-partition", "100 brokers x 100", 1.3, 0.45),
    *_both("heartbeats", "100 brokers", 1.0, 0.85),
    Target("heartbeats", "100 brokers", "processor_us", at_most=1.5, of=FLOOR),
    *_both("heartbeats", "500 brokers", 1.0, 0.85),
    Target("heartbeats", "500 brokers", "processor_us", at_most=1.5, of=FLOOR),
    _processor("create-topics", "1 topic x 9,999, 1 request", 0.12),
    _processor("create-topics", "10,000 topics x 1, 4 requests", 0.15),
    _processor("create-topics", "2,000 topics x 1, 100 requests", 0.1),
    _processor("create-topics", "1,000 topics x 100, 20 requests", 0.35),
    Target("broker-failure", "9,990 leaderships", "total_ms", at_most=0.25),
    Target("idle", "3 brokers", "resident_mib", at_most=0.25),
    Target("idle", "20 brokers", "processor_percent", at_most=0.15),
    Target("log", "memory", "bytes_per_partition", at_most=0.12),
    _download("log", "the log to 1 observer", 1.5),
    _download("log", "the log to 10 observers", 1.5),
    Target("log", "start", "start_s", at_most=0.2),
    _download("snapshot", "FetchSnapshot to 1 observer", 1.2),
    Target("snapshot", "FetchSnapshot to 1 observer", "processor_ms_per_mb", at_most=0.5),
    _download("snapshot", "FetchSnapshot to 10 observers", 1.2),
    Target("snapshot", "FetchSnapshot to 10 observers", "processor_ms_per_mb", at_most=0.5),
    Target("snapshot", "start", "start_s", at_most=0.2),
    Target("log-1m", "memory", "bytes_per_partition", at_most=0.12),
    Target("log-1m", "start", "start_s", at_most=0.2),
    Target("snapshot-1m", "start", "start_s", at_most=0.2),
    Target("log-2m", "start", "start_s", at_most=0.2),
)


def rows(results: Results) -> list[Sequence[str]]:
    """A heading, and each target of which both sides were measured."""
    found: list[Sequence[str]] = [
        ["scenario", "load", "figure", "compared", "kraftctl", "ratio", "target", ""]
    ]
    for target in TARGETS:
        measured = results.medians(target.scenario, target.load, MEASURED).get(target.figure)
        compared = results.medians(target.scenario, target.load, target.of).get(target.figure)
        if measured is None or compared is None:
            continue
        figure = FIGURES[target.figure]
        found.append(
            [
                target.scenario,
                target.load,
                f"{figure.label} ({figure.unit})",
                number(compared),
                number(measured),
                ratio(measured, compared),
                target.bound(results.about),
                "met" if target.is_met(measured, compared, results.about) else "**missed**",
            ]
        )
    return found
