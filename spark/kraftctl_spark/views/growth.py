"""Growth: topics, partitions and brokers that were added and removed per hour, and how many there were."""

from __future__ import annotations

from kraftctl_spark.history.versions.kinds import BROKERS, PARTITIONS, TOPICS, Kind
from kraftctl_spark.views.isr import hour
from kraftctl_spark.views.log import LogHistory

_WORDS = {
    "topic": ("created", "deleted", TOPICS),
    "partition": ("created", "deleted", PARTITIONS),
    "broker": ("registered", "unregistered", BROKERS),
}


def growth_per_hour(log: LogHistory) -> str:
    def of_each(text: str) -> str:
        return ", ".join(
            text.format(kind=kind, came=came, went=went) for kind, (came, went, _) in _WORDS.items()
        )

    counted = of_each(
        "count_if(kind = '{kind} {came}') AS {kind}s_{came}, "
        "count_if(kind = '{kind} {went}') AS {kind}s_{went}, "
        "sum(CASE WHEN kind IN ('{kind}', '{kind} {came}') THEN 1 WHEN kind = '{kind} {went}' THEN -1 "
        "ELSE 0 END) AS {kind}_steps"
    )
    totals = of_each("sum({kind}_steps) OVER (PARTITION BY range_start ORDER BY hour) AS {kind}s")
    summed = of_each("sum({kind}s_{came}) AS {kind}s_{came}, sum({kind}s_{went}) AS {kind}s_{went}")
    latest = of_each("max_by({kind}s, range_start) AS {kind}s")
    return f"""
        SELECT hour, {summed}, {latest} FROM (
            SELECT *, {totals} FROM (
                SELECT range_start, {hour("time")} AS hour, {counted}
                FROM ({_comings_and_goings(log)}) GROUP BY range_start, 2
            )
        ) GROUP BY hour"""


def _comings_and_goings(log: LogHistory) -> str:
    """Returns events, and the contents of snapshots, which existed before."""
    kinds = [f"{kind} {word}" for kind, (came, went, _) in _WORDS.items() for word in (came, went)]
    steps = [f"SELECT {log.range_start('offset')} AS range_start, time, kind FROM {log.events(*kinds)}"]
    steps += [_in_snapshots(log, name, kind) for name, (_, _, kind) in _WORDS.items()]
    return " UNION ALL ".join(steps)


def _in_snapshots(log: LogHistory, name: str, kind: Kind) -> str:
    return f"""
        SELECT {log.range_start("at")}, time, '{name}' FROM {log.intervals(kind)} WHERE from_snapshot"""
