"""The table of `make bench-scale`, in Markdown: one line for each change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.bench.scale_cluster import Measured

HEADINGS: Final = (
    "change",
    "voters",
    "s",
    "records",
    "heartbeats of others: p50, p99, max ms",
    "lost, refused",
    "others fenced",
    "unanswered ms",
    "longest turn ms",
    "leader",
    "MB",
    "",
)
LAG_MS_MIN: Final = 10.0
"""Shorter turns of the benchmark's own loop are not worth a remark."""


def render(rows: Sequence[Measured]) -> str:
    lines = [HEADINGS, tuple("---" for _ in HEADINGS), *(cells(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(row: Measured) -> tuple[str, ...]:
    remarks = [row.note, row.failed and f"FAILED: {row.failed}"]
    if row.lag_ms >= LAG_MS_MIN:
        remarks.append(f"own lag {row.lag_ms:.0f} ms")
    kept = {True: "kept", False: "LOST", None: ""}[row.leader_kept]
    turn = "" if row.turn_ms is None else f"{row.turn_ms:.0f} {row.turn}"
    return (
        row.what,
        str(row.voters),
        f"{row.seconds:.2f}",
        f"{row.records:,}",
        f"{row.p50_ms:.1f}, {row.p99_ms:.0f}, {row.max_ms:.0f} of {row.heartbeats}",
        f"{row.lost}, {row.refused}",
        str(row.fenced),
        f"{row.unanswered_ms:.0f}",
        turn,
        kept,
        f"{row.peak_bytes / 1e6:.0f}" if row.peak_bytes else "",
        "; ".join(remark for remark in remarks if remark),
    )
