"""Finds out which of the calls before a find are needed for it: each attempt has fresh controllers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.differential.call import Call
from tests.differential.compare import Difference
from tests.differential.rounds import Find, Judge, Round

Repeats = Callable[[list[Call]], bool]


def shrunk(judge: Judge, find: Find, seconds_max: float = 300.0) -> Find | None:
    """Returns the find with as few calls as attempts in this time can show; None if it does not repeat."""
    wanted = {(each.api, each.place) for each in find.differences}
    end_s = time.monotonic() + seconds_max

    def repeats(calls: list[Call]) -> bool:
        found = judge.known.unknown(last_differences(judge, find, calls))
        return bool(wanted & {(each.api, each.place) for each in found})

    if not repeats(find.calls):
        return None
    last = find.calls[-1:]
    if repeats(last):
        return Find(find.setting, last, last_differences(judge, find, last))
    needed = minimal(
        find.calls[:-1], lambda calls: repeats([*calls, *last]), lambda: time.monotonic() >= end_s
    )
    return Find(find.setting, [*needed, *last], last_differences(judge, find, [*needed, *last]))


def minimal(
    calls: Sequence[Call], repeats: Repeats, exhausted: Callable[[], bool] = lambda: False
) -> list[Call]:
    """Removes parts, from halves to single ones, for as long as what is left repeats the find."""
    kept = list(calls)
    size = max(1, len(kept) // 2)
    while kept and not exhausted():
        end = len(kept)
        shorter = False
        while end > 0 and not exhausted():
            part = kept[: max(0, end - size)] + kept[end:]
            if repeats(part):
                kept = part
                shorter = True
            end -= size
        if size == 1 and not shorter:
            break
        size = max(1, size // 2)
    return kept


def last_differences(judge: Judge, find: Find, calls: list[Call]) -> list[Difference]:
    """Returns what differs at the last of these calls, on fresh controllers."""
    with tempfile.TemporaryDirectory(prefix="differential-") as directory:
        this = Round(judge, find.setting, Path(directory))
        try:
            found = this.start()
            for call in calls:
                found = this.make(call)
                if this.failed:
                    break
            return found
        finally:
            this.pair.stop()
