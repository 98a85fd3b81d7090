"""What is known is not found again, and what no longer occurs is refused."""

from __future__ import annotations

from pathlib import Path

from tests.differential.compare import Difference
from tests.differential.known import FILE, KnownDifferences

ENTRIES = """
[[difference]]
name = "one"
reason = "because"
api = "A"
java = "0"
kraftctl = "4*"
kafka = "4.3.*"
"""

REFUSED = Difference("A", "ErrorCode", 0, 42)
LOGGED = Difference("A", "log", ["record"], [])


def known(tmp_path: Path, kafka: str = "4.3.1") -> KnownDifferences:
    file = tmp_path / "known.toml"
    file.write_text(ENTRIES)
    return KnownDifferences(kafka, file)


def test_what_fits_an_entry_is_known_and_so_is_what_follows_in_the_log(tmp_path: Path) -> None:
    assert known(tmp_path).unknown([REFUSED, LOGGED]) == []


def test_everything_else_is_new(tmp_path: Path) -> None:
    other = Difference("A", "ErrorCode", 3, 42)
    assert known(tmp_path).unknown([LOGGED]) == [LOGGED]
    assert known(tmp_path).unknown([REFUSED, other, LOGGED]) == [other, LOGGED]
    assert known(tmp_path, "4.4.0").unknown([REFUSED]) == [REFUSED]


def test_an_entry_that_does_not_occur_is_stale(tmp_path: Path) -> None:
    entries = known(tmp_path)
    assert [each.name for each in entries.stale()] == ["one"]
    entries.unknown([REFUSED])
    assert entries.stale() == []
    assert known(tmp_path, "4.4.0").stale() == []


def test_every_entry_has_its_reason() -> None:
    entries = KnownDifferences("4.3.1", FILE).entries
    assert [each.name for each in entries if len(each.reason) < 10] == []
