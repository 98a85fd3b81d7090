"""The table of `make bench-failover`: what is compared, and what has a target."""

from __future__ import annotations

from tests.bench.failover import KILLED, SILENT, STOPPED, Failover, rows
from tests.bench.table import Row

MEASURED = {
    "kraftctl": [Failover(KILLED, "kraftctl", 0.25), Failover(STOPPED, "kraftctl", 0.125)],
    "mixed": [
        Failover(KILLED, "kraftctl", 2.0),
        Failover(KILLED, "java-controller", 0.5),
        Failover(SILENT, "kraftctl", 30.0),
    ],
    "java": [Failover(KILLED, "java-controller", 2.5), Failover(STOPPED, "java-controller", 0.0625)],
}


def cells(row: Row) -> tuple[str, float, float, bool | None]:
    return row.what, row.measured, row.compared, row.met


def test_the_kinds_of_a_mixed_quorum_are_apart_and_only_kraftctl_has_a_target() -> None:
    medians = [cells(row) for row in rows(MEASURED) if "p50" in row.what]
    assert medians == [
        ("kraftctl: kraftctl killed, topic created, p50 of 1", 250.0, 2_500.0, True),
        ("kraftctl: kraftctl stopped, topic created, p50 of 1", 125.0, 62.5, None),
        ("mixed: java-controller killed, topic created, p50 of 1", 500.0, 2_500.0, None),
        ("mixed: kraftctl killed, topic created, p50 of 1", 2_000.0, 2_500.0, None),
        ("mixed: kraftctl silent, topic created, p50 of 1", 30_000.0, 0.0, None),
    ]


def test_one_cluster_alone_is_compared_with_nothing() -> None:
    for name, failovers in MEASURED.items():
        assert {row.compared for row in rows({name: failovers})} == {0.0}
