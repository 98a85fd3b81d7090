"""What a run of chaos notices when its processes have stopped."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.chaos.settling import settle, unclean_ends


def test_a_log_that_was_read_before_the_last_change_is_not_settled() -> None:
    """What clients did last was missing in it."""
    read_at: list[int] = []

    def read(_: object) -> list[str]:
        read_at.append(watch.reads_to_the_end)
        return []

    def check() -> None:
        watch.reads_to_the_end += 1

    log = SimpleNamespace(read=read, end_offset=7)
    watch: Any = SimpleNamespace(log=log, end_offsets={1: 7, 2: 7, 3: 7}, reads_to_the_end=5, check=check)
    cluster: Any = SimpleNamespace(check_processes=lambda: None, brokers=[object()])
    settle(cluster, watch)
    assert min(read_at) >= 7


def test_a_controller_that_does_not_stop_cleanly_is_found() -> None:
    assert unclean_ends({"kraftctl-3000": 0}) == []
    ends = unclean_ends({"kraftctl-3000": 0, "kraftctl-3001": 1, "kraftctl-3002": -9})
    assert ends == ["kraftctl-3001 ended with 1", "kraftctl-3002 ended with -9"]
