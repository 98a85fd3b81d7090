"""The options of `format("kraft")`; Spark passes them as text, and the case of keys does not matter."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from kraftctl_spark.log.log_location import CLIENT_PREFIX, LOCATION_OPTIONS, LogLocation, parse_location

OFFSETS_PER_TRIGGER_DEFAULT = 1_000_000
OPTIONS = (*LOCATION_OPTIONS, "clusterId", "maxOffsetsPerTrigger", "startingOffset", "endingOffset")
SIMILARITY_MIN = 0.8
"""An unknown option at least this similar to a known one is refused as a misspelling."""


@dataclass(frozen=True)
class KraftOptions:
    """The given options, parsed."""

    location: LogLocation
    cluster_id: str | None = None
    offsets_per_trigger: int = OFFSETS_PER_TRIGGER_DEFAULT
    starting_offset: int | None = None
    """The first offset, inclusive; None for the start of the log."""
    ending_offset: int | None = None
    """The end, exclusive; None for the high watermark."""

    @staticmethod
    def parse(options: Mapping[str, str]) -> KraftOptions:
        """Parses the options; ValueError that names the option."""
        given = {key.lower(): value for key, value in options.items()}
        _refuse_misspelt(given)
        offsets_per_trigger = _number(given, "maxOffsetsPerTrigger", 1)
        return KraftOptions(
            location=parse_location(given),
            cluster_id=given.get("clusterid") or None,
            offsets_per_trigger=(
                OFFSETS_PER_TRIGGER_DEFAULT if offsets_per_trigger is None else offsets_per_trigger
            ),
            starting_offset=_number(given, "startingOffset", 0),
            ending_offset=_number(given, "endingOffset", 0),
        )


def _number(given: Mapping[str, str], name: str, lowest: int) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) < lowest:
        raise ValueError(f"option {name}={text} is not allowed: give a whole number, {lowest} or more")
    return int(text)


def _refuse_misspelt(given: Mapping[str, str]) -> None:
    """Refuses misspelled options. Other unknown ones may belong to code that builds on this source."""
    known = {name.lower(): name for name in OPTIONS}
    for key in given:
        if key in known or key.startswith(CLIENT_PREFIX):
            continue
        similar = difflib.get_close_matches(key, known, n=1, cutoff=SIMILARITY_MIN)
        if similar:
            raise ValueError(f"option {key} is not known: did you mean {known[similar[0]]}?")
