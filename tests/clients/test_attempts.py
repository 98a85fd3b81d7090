"""What an observer says of controllers that it has asked in vain."""

from __future__ import annotations

from kraftctl_observer.attempts import Attempts


def test_what_a_controller_said_is_not_replaced_when_the_time_is_over() -> None:
    """The last attempt may begin just before the end, and has no time for any response."""
    attempts = Attempts("the log", timeout_s=0.0, say_after_s=60.0, silence_s=5.0)
    attempts.failed("c1:9093", "it does not serve this FetchRequest")
    assert not attempts.may_continue()
    attempts.failed("c1:9093", "ApiVersions was not answered within 0.0 s")
    attempts.failed("c2:9093", "it refuses connections")
    assert attempts.end().endswith(
        "c1:9093: it does not serve this FetchRequest; c2:9093: it refuses connections"
    )
