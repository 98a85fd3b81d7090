"""The tables of docs/versions.md, from what the parts have kept."""

from __future__ import annotations

from datetime import date

from tests.matrix.releases import RELEASES
from tests.matrix.results import rows, table


def text_of(part: str) -> str:
    """Returns the tables of a part that has passed."""
    return f"Passed on {date.today().isoformat()}.\n\n{TEXTS[part]()}"


def levels() -> str:
    own = dict(rows("levels-own"))
    by_release = {release: rest for release, *rest in rows("levels")}
    body = [[release, *by_release[release], own[release]] for release in RELEASES]
    header = ("brokers", "metadata.version, raised level by level", "levels passed", "also formatted with")
    return table(header, body)


def one_cluster() -> str:
    return table(("brokers in one cluster", "metadata.version"), rows("one_cluster"))


def rolling_upgrade() -> str:
    header = ("brokers", "levels", "lowered by one level, and raised again", "back to the release before")
    records, topics = rows("rolling_upgrade-load")[0]
    load = f"{records} records and {topics} topics were acknowledged meanwhile; none is lost.\n"
    return f"{table(header, rows('rolling_upgrade'))}\n{load}"


def directories() -> str:
    header = ("directory", "controllers, one after the other", "snapshots equal to their logs")
    chains = table(header, sorted(rows("directories")))
    formatted = ("formatted by", "then started by", "quorum", "metadata.version")
    return f"{chains}\n{table(formatted, sorted(rows('directories-formats')))}"


def every_tool() -> str:
    found = rows("every_tool")
    totals = [str(sum(int(row[column]) for row in found)) for column in (1, 2)]
    return table(("tool of 4.4.0", "calls", "only the status is compared"), [*found, ["all", *totals]])


TEXTS = {
    "levels": levels,
    "one_cluster": one_cluster,
    "rolling_upgrade": rolling_upgrade,
    "directories": directories,
    "every_tool": every_tool,
}
