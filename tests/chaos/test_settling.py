"""What a run of chaos notices when its processes have stopped."""

from __future__ import annotations

from tests.chaos.settling import unclean_ends


def test_a_controller_that_does_not_stop_cleanly_is_found() -> None:
    assert unclean_ends({"kraftctl-3000": 0}) == []
    ends = unclean_ends({"kraftctl-3000": 0, "kraftctl-3001": 1, "kraftctl-3002": -9})
    assert ends == ["kraftctl-3001 ended with 1", "kraftctl-3002 ended with -9"]
