"""A strict parser of Prometheus' text format, version 0.0.4: whatever it does not know is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = rf'({NAME})="((?:[^"\\\n]|\\\\|\\"|\\n)*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
NUMBER = re.compile(r"NaN|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
KINDS = ("counter", "gauge", "histogram", "summary", "untyped")

Labels = tuple[tuple[str, str], ...]


@dataclass
class Family:
    """A metric: its type, its help, and its samples by name and labels."""

    kind: str
    help: str
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)


def parse(text: str) -> dict[str, Family]:
    """Returns the families by name. Raises ValueError for what the format does not have."""
    if text and not text.endswith("\n"):
        raise ValueError("the last line has no end")
    families: dict[str, Family] = {}
    current, helps = "", {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, _, helps[name] = line[len("# HELP ") :].partition(" ")  # type: ignore[index]
            continue
        if line.startswith("# TYPE "):
            current, kind = line[len("# TYPE ") :].split(" ")
            if current in families or kind not in KINDS or current not in helps:
                raise ValueError(f"{line!r} comes twice, has no help, or no such type")
            families[current] = Family(kind, helps[current])
            continue
        _add(families[current], current, line)
    for name, family in families.items():
        _check(name, family)
    return families


def _add(family: Family, name: str, line: str) -> None:
    match = SAMPLE.fullmatch(line)
    if match is None or NUMBER.fullmatch(match.group(match.lastindex or 0)) is None:
        raise ValueError(f"{line!r} is no sample")
    labels = tuple((label, value) for label, value in re.findall(LABEL, match.group(2) or ""))
    if len(dict(labels)) != len(labels):
        raise ValueError(f"{line!r} has a label twice")
    suffixes = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}
    if match.group(1) not in [name + suffix for suffix in suffixes.get(family.kind, ("",))]:
        raise ValueError(f"{line!r} is among those of {name}")
    key = match.group(1), labels
    if key in family.samples:
        raise ValueError(f"{line!r} comes twice")
    family.samples[key] = float(match.group(match.lastindex or 0))


def _check(name: str, family: Family) -> None:
    if not family.samples:
        raise ValueError(f"{name} has no samples")
    if family.kind == "counter" and any(value < 0 for value in family.samples.values()):
        raise ValueError(f"{name} counts less than nothing")
    if family.kind == "histogram":
        _check_histogram(name, family)


def _check_histogram(name: str, family: Family) -> None:
    reached: dict[Labels, list[tuple[float, float]]] = {}
    for (sample, labels), value in family.samples.items():
        if sample == f"{name}_bucket":
            bound = float(dict(labels)["le"])
            reached.setdefault(tuple(each for each in labels if each[0] != "le"), []).append((bound, value))
    for labels, buckets in reached.items():
        if buckets != sorted(buckets) or buckets[-1][0] != float("inf"):
            raise ValueError(f"{name}{labels} has buckets out of order, or none for the rest")
        if [value for _, value in buckets] != sorted(value for _, value in buckets):
            raise ValueError(f"{name}{labels} counts less in a wider bucket")
        if buckets[-1][1] != family.samples[f"{name}_count", labels]:
            raise ValueError(f"{name}{labels} has another count")
