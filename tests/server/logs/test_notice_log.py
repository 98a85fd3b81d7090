"""Lines of the node become log records, whichever part of it they come from."""

from __future__ import annotations

import logging

import pytest

from kraftctl.controller.results import notice_sources
from kraftctl.raft import effects
from kraftctl.server.logs.notice_log import LoggedNotices

NAMES = sorted(name for name in vars(notice_sources) if name.isupper() and name != "SOURCES")


@pytest.mark.parametrize("name", ["RAFT", *NAMES])
def test_each_source_has_a_logger(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """A line without one ends the controller."""
    source = effects.RAFT if name == "RAFT" else getattr(notice_sources, name)
    caplog.set_level(logging.INFO)
    LoggedNotices(lambda: 0.0, lambda _, __: None, None).notice(
        effects.Notice(source, effects.INFO, "a line")
    )
    assert caplog.record_tuples == [(f"kraftctl.{source}", logging.INFO, "a line")]
