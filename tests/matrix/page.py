"""The tables of docs/versions.md, from what the parts have kept."""

from __future__ import annotations

from datetime import date

from tests.matrix.releases import RELEASES
from tests.matrix.results import rows, table


def page() -> str:
    return "\n".join((summary(), levels(), upgrade(), directories(), tools()))


def summary() -> str:
    return f"Run on {date.today().isoformat()}; everything passed.\n"


def levels() -> str:
    """Brokers at their levels."""
    own = dict(rows("levels-own"))
    by_release = {release: rest for release, *rest in rows("levels")}
    body = [[release, *by_release[release], own[release]] for release in RELEASES]
    header = ("brokers", "metadata.version, raised level by level", "levels passed", "also formatted with")
    together = "".join(f"{releases} in one cluster: {level}.\n" for releases, level in rows("one_cluster"))
    return f"## Brokers\n\n{table(header, body)}\n{together}"


def upgrade() -> str:
    header = ("brokers", "levels", "lowered by one level, and raised again", "back to the release before")
    records, topics = rows("rolling_upgrade-load")[0]
    load = f"{records} records and {topics} topics were acknowledged meanwhile; none is lost.\n"
    return f"## Rolling upgrade under load\n\n{table(header, rows('rolling_upgrade'))}\n{load}"


def directories() -> str:
    header = ("directory", "controllers, one after the other", "snapshots equal to their logs")
    chains = table(header, sorted(rows("directories")))
    formats = [[formats, starts, mode, level] for formats, starts, mode, level in rows("directories-formats")]
    formatted = table(("formatted by", "then started by", "quorum", "metadata.version"), sorted(formats))
    return f"## Directories\n\n{chains}\n{formatted}"


def tools() -> str:
    header = ("tool of 4.4.0", "calls")
    found = rows("every_tool")
    total = sum(int(count) for _, count in found)
    return f"## Tools\n\n{table(header, [*found, ['all', str(total)]])}"
