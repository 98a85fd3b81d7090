"""Whether the cluster has a name still: what is exported of it later would have the name again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from kraftctl_spark.forgetting.version_texts import version_without
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.history_manifest import FORMAT
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.stage import ONE_BY_ONE
from kraftctl_spark.tables.output import Output


class StillThere(NamedTuple):
    """How many things have the name behind the last record, by the table that the history has of them."""

    end: int
    by_table: Counter[str]


def unknown_before(output: Output) -> int:
    """Returns the offset before which neither records nor the history beside them are there; 0 for none."""
    end, history = output.raw_start, output.log.state().history
    is_known = history is not None and history.format == FORMAT and history.end >= end
    return 0 if is_known else end


def still_there(output: Output, name: WantedName) -> StillThere:
    """Returns what has it where it is certain, as far as the end of the tables is known."""
    state = HistoryTables.beside(output).state_at_end()
    certain, versions = replace(name, everywhere=False), state.stage.still_open()
    found: Counter[str] = Counter()
    for kind in ONE_BY_ONE:
        for one in versions[kind.name]:
            found[kind.name] += version_without(kind, one, certain) is not one
    return StillThere(state.end, +found)
