"""Each field of a raft node that changes has one owner: the module, or the class itself, that sets it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

RAFT = Path(__file__).resolve().parents[2] / "kraftctl" / "raft"

OWNERS = {
    "state": "quorum_state.py",
    "stored_election": "quorum_state.py",
    "voter_change": "voter_change.py",
    "recovering_epoch": "recovery.py",
}
"""The fields of RaftCore that are set from outside of it, and the one module that sets each."""


def assignments(source: str) -> Iterator[tuple[int, str, str]]:
    """(line, owner, field) of each assignment to a field: `core.state = x` gives `core` and `state`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Attribute):
                    yield node.lineno, ast.unparse(part.value), part.attr


def breaches(name: str, source: str) -> list[str]:
    found = []
    for line, owner, field in assignments(source):
        is_deadline = field.endswith("deadline_ms") or field in (
            "retry_at_ms",
            "backoff_until_ms",
            "update_voter_at_ms",
        )
        is_own = owner == "self" or (owner == "core" and OWNERS.get(field) == name)
        if (owner == "core" or field == "state" or is_deadline) and not is_own:
            found.append(f"{name}:{line} {owner}.{field}")
    return found


def test_state_and_deadlines_are_set_by_their_owners_alone() -> None:
    assert [
        each for path in sorted(RAFT.glob("*.py")) for each in breaches(path.name, path.read_text())
    ] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("core.state = Follower()", ["elections.py:1 core.state"], id="state"),
        pytest.param("core.high_watermark += 1", ["elections.py:1 core.high_watermark"], id="field"),
        pytest.param("state.deadline_ms = 1", ["elections.py:1 state.deadline_ms"], id="deadline"),
        pytest.param("a, state.retry_at_ms = 1, 2", ["elections.py:1 state.retry_at_ms"], id="in-a-tuple"),
        pytest.param("self.deadline_ms = 1", [], id="own"),
        pytest.param("partition.leader_id = 1", [], id="message"),
    ],
)
def test_a_breach_is_found(source: str, expected: list[str]) -> None:
    """Checks the checker."""
    assert breaches("elections.py", source) == expected
