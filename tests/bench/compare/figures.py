"""The figures that scenarios measure: names, units, and which of two is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Figures = dict[str, float]
"""One measurement of one round, by name."""


@dataclass(frozen=True)
class Figure:
    """How a figure is printed."""

    label: str
    unit: str
    larger_is_better: bool = False


FIGURES: Final[dict[str, Figure]] = {
    "per_s": Figure("operations", "/s", larger_is_better=True),
    "processor_us": Figure("processor time each", "us"),
    "p50_ms": Figure("median", "ms"),
    "p99_ms": Figure("99 %", "ms"),
    "p999_ms": Figure("99.9 %", "ms"),
    "cores": Figure("cores in use", ""),
    "load_us": Figure("load generator, each", "us"),
    "fetches_per_s": Figure("fetches of observers answered", "/s"),
    "lag_p50_ms": Figure("observers behind the response, median", "ms"),
    "lag_p99_ms": Figure("observers behind the response, 99 %", "ms"),
    "failover_ms": Figure("until a change is acknowledged", "ms"),
    "total_ms": Figure("until all of it is seen", "ms"),
    "processor_percent": Figure("of a core", "%"),
    "resident_mib": Figure("resident memory", "MiB"),
    "bytes_per_partition": Figure("memory per partition", "B"),
    "kib_per_connection": Figure("memory per connection", "KiB"),
    "start_s": Figure("to the first registration", "s"),
    "start_processor_s": Figure("processor time until then", "s"),
    "mb_per_s": Figure("transferred", "MB/s", larger_is_better=True),
    "processor_ms_per_mb": Figure("processor time per MB", "ms"),
}
"""In the order of the tables. An MB has a million bytes."""
