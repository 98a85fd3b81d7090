"""What a history notes, finds and keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.linearizability import checker
from tests.chaos.linearizability.history import History, load
from tests.chaos.linearizability.operation import UNKNOWN, Operation, Promise


def op(name: str, result: object, sent: int, answered: int | None, argument: object = None) -> Operation:
    return Operation("client", name, argument, result, sent, answered)  # type: ignore[arg-type]


def stale_read() -> History:
    history = History()
    history.add("config", "config-2", op("append", "made", 0, 1, "0:1"))
    history.add("config", "config-2", op("append", UNKNOWN, 2, None, "0:2"))
    history.add("config", "config-2", op("get", (), 4, 5))
    history.add("acl", "acl-1", op("create", "made", 0, 1))
    return history


def test_a_violation_names_its_key() -> None:
    (problem,) = stale_read().judge().violations
    assert problem.startswith("config config-2: no order allows ")


def test_a_key_with_too_many_configurations_is_undecided_and_no_violation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checker, "CONFIGURATIONS_MAX", 1)
    verdict = stale_read().judge()
    assert verdict.violations == []
    assert [line.split(":")[0] for line in verdict.undecided] == ["acl acl-1", "config config-2"]


def test_what_is_kept_is_checked_again_with_the_same_result(tmp_path: Path) -> None:
    history = stale_read()
    sequential = Operation("c", "get", None, ("0:1",), 2, 3, Promise.SEQUENTIAL, True, "c 0")
    history.add("config", "config-2", sequential)
    history.save(tmp_path / "history.jsonl")
    kept = load(tmp_path / "history.jsonl")
    assert kept.judge() == history.judge()
    assert kept.figures() == history.figures()
    assert kept.figures() == {"keys": 2, "operations": 5, "unknown": 1, "sequential reads": 1}


def test_a_broker_may_repeat_what_it_forwards() -> None:
    """A topic that is deleted between two attempts is created again by the second one."""
    for at_least_once in (False, True):
        history = History()
        created = op("create", ("created", "x"), 0, 9)
        history.add("topic", "topic-1", created, at_least_once=at_least_once)
        history.add("topic", "topic-1", op("delete", "deleted", 10, 11))
        history.add("topic", "topic-1", op("try", "exists", 12, 13))
        assert (history.judge().violations == []) == at_least_once


def test_a_topic_id_that_two_creations_got_is_found() -> None:
    history = History()
    for name in ("topic-1", "topic-2"):
        history.add("topic", name, op("create", ("created", "x"), 0, 1))
    assert history.judge().violations == ["('created', 'x') was the response to 2 creations"]
