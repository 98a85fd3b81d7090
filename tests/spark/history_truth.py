"""The expected answers to questions about a history, from a plain loop over the records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

HOUR_MS = 3_600_000
Row = dict[str, Any]
LISTS = ("adding_replicas", "removing_replicas", "eligible_leader_replicas", "last_known_elr")
ANSWERED = (
    "topic_history",
    "partition_history",
    "isr_changes",
    "isr_churn_per_hour",
    "fencing_timeline",
    "elections",
    "elections_per_broker",
    "outages",
    "partition_availability",
    "availability_per_hour",
    "config_audit",
    "growth_per_hour",
    "reassignments",
    "quorum_changes",
)
"""The questions that it answers, too."""

CONFIG_TYPES = {2: "TOPIC", 4: "BROKER", 16: "CLIENT_METRICS", 32: "GROUP"}


@dataclass(frozen=True)
class Event:
    """A record that has an effect."""

    offset: int
    time: int
    epoch: int
    table: str
    value: Row


@dataclass
class Span:
    """A state that begins with a record."""

    start: Event
    state: Row
    source: str = ""


class HistoryTruth:
    """Rows of each answer, by the name of the question. Times are in ms since 1970."""

    def __init__(self, events: Iterable[Event], end_ms: int) -> None:
        self.rows: dict[str, list[Row]] = {name: [] for name in ANSWERED}
        self.end_ms = end_ms
        self._topics: dict[str, str] = {}
        self._partitions: dict[tuple[str, int], Span] = {}
        self._brokers: dict[int, Span] = {}
        self._configs: dict[tuple[int, str, str], str] = {}
        self._moves: dict[tuple[str, int], tuple[Event, list[int]]] = {}
        self._growth: dict[int, Counter[str]] = defaultdict(Counter)
        self._totals: dict[int, dict[str, int]] = {}
        self._votes: dict[int, Counter[str]] = defaultdict(Counter)
        self._reign: Row | None = None
        self._voters: list[int] = []
        for event in events:
            handler = getattr(self, f"_{event.table}", None)
            if handler is not None:
                handler(event)
        self._finish()

    # Topics and partitions

    def _topic_record(self, event: Event) -> None:
        self._topics[event.value["topic_id"]] = event.value["name"]
        row = {"topic_id": event.value["topic_id"], "topic": event.value["name"]}
        row |= {"created_offset": event.offset, "created_time": event.time}
        self.rows["topic_history"].append(
            row | {"deleted_offset": None, "deleted_time": None, "ended_by": None}
        )
        self._count(event, "topics_created")

    def _remove_topic_record(self, event: Event) -> None:
        topic_id = event.value["topic_id"]
        for key in [key for key in self._partitions if key[0] == topic_id]:
            self._end_partition(key, event.offset, event.time, "removed")
            del self._partitions[key]
            self._end_move(key, event, "deleted")
            self._count(event, "partitions_deleted")
        name = self._topics[topic_id]
        for config in [config for config in self._configs if config[:2] == (2, name)]:
            self._audit(event, config, None, "topic deleted")
        for row in self.rows["topic_history"]:
            if row["topic_id"] == topic_id:
                row |= {"deleted_offset": event.offset, "deleted_time": event.time, "ended_by": "removed"}
        del self._topics[topic_id]
        self._count(event, "topics_deleted")

    def _partition_record(self, event: Event) -> None:
        value = event.value
        key = value["topic_id"], value["partition_id"]
        state: Row = {name: value[name] or [] for name in LISTS}
        state |= {name: value[name] for name in ("replicas", "isr", "leader")}
        state |= {name: value[name] for name in ("leader_epoch", "partition_epoch")}
        state["leader_recovery_state"] = value["leader_recovery_state"] or 0
        if key not in self._partitions:
            self._count(event, "partitions_created")
        self._changed(event, key, state, state["leader_recovery_state"])

    def _partition_change_record(self, event: Event) -> None:
        value = event.value
        key = value["topic_id"], value["partition_id"]
        state = dict(self._partitions[key].state)
        for name in (*LISTS, "replicas", "isr"):
            if value[name] is not None:
                state[name] = value[name]
        if value["leader"] != -2:
            state["leader"] = value["leader"]
            state["leader_epoch"] += 1
        if value["leader_recovery_state"] not in (None, -1):
            state["leader_recovery_state"] = value["leader_recovery_state"]
        state["partition_epoch"] += 1
        self._changed(event, key, state, value["leader_recovery_state"])

    def _clear_elr_record(self, event: Event) -> None:
        for key, span in list(self._partitions.items()):
            state = span.state
            if event.value["topic_name"] in ("", self._topics[key[0]]) and (
                state["eligible_leader_replicas"] or state["last_known_elr"]
            ):
                cleared = state | {"eligible_leader_replicas": [], "last_known_elr": []}
                cleared["partition_epoch"] += 1
                self._changed(event, key, cleared, None)

    def _changed(self, event: Event, key: tuple[str, int], state: Row, recovery: int | None) -> None:
        before = self._partitions.get(key)
        if before is not None:
            self._end_partition(key, event.offset, event.time, "changed")
            self._compare(event, key, before.state, state, recovery)
        self._moved(event, key, None if before is None else before.state, state)
        self._partitions[key] = Span(event, state)

    def _place(self, key: tuple[str, int]) -> Row:
        return {"topic_id": key[0], "topic": self._topics[key[0]], "partition_id": key[1]}

    def _end_partition(
        self, key: tuple[str, int], offset: int | None, time: int, ended_by: str | None
    ) -> None:
        span = self._partitions[key]
        row = {**self._place(key), **span.state, "elr": span.state["eligible_leader_replicas"]}
        del row["eligible_leader_replicas"]
        row |= {"start_offset": span.start.offset, "start_time": span.start.time, "end_offset": offset}
        row |= {"end_time": time, "duration_ms": max(0, time - span.start.time)}
        row |= {"leaderless": _leaderless(row), "under_replicated": _under_replicated(row)}
        self.rows["partition_history"].append(row | {"from_snapshot": False, "ended_by": ended_by})

    def _compare(self, event: Event, key: tuple[str, int], old: Row, new: Row, recovery: int | None) -> None:
        at = {**self._place(key), "offset": event.offset, "time": event.time}
        removed = [broker for broker in old["isr"] if broker not in new["isr"]]
        added = [broker for broker in new["isr"] if broker not in old["isr"]]
        if removed or added:
            change = {"removed": removed, "added": added, "old_isr": old["isr"], "new_isr": new["isr"]}
            self.rows["isr_changes"].append(at | change)
        if old["leader"] == new["leader"]:
            return
        if old["leader"] >= 0:
            self._votes[old["leader"]]["lost"] += 1
        if new["leader"] >= 0:
            leaders = {"old_leader": old["leader"], "new_leader": new["leader"]}
            leaders["leader_epoch"] = new["leader_epoch"]
            row = at | leaders | {"kind": _kind(old, new, recovery), "cause": _cause(old, new)}
            self.rows["elections"].append(row)
            kind = "from_elr" if row["kind"] == "elr" else row["kind"]
            self._votes[new["leader"]].update(["elected", kind])
            self._votes[new["leader"]]["preferred"] += row["cause"] == "preferred"

    def _moved(self, event: Event, key: tuple[str, int], old: Row | None, new: Row) -> None:
        moving = bool(new["adding_replicas"] or new["removing_replicas"])
        if moving and key not in self._moves:
            before = _without(new["replicas"], new["adding_replicas"]) if old is None else old["replicas"]
            self._moves[key] = event, before
        elif not moving and key in self._moves:
            assert old is not None
            target = _without(old["replicas"], old["removing_replicas"])
            done = sorted(target) == sorted(new["replicas"])
            self._end_move(key, event, "completed" if done else "cancelled")
        elif not moving and old is not None and old["replicas"] != new["replicas"]:
            self._moves[key] = event, old["replicas"]
            self._end_move(key, event, "completed", new["replicas"])

    def _end_move(
        self, key: tuple[str, int], event: Event | None, outcome: str, target: list[int] | None = None
    ) -> None:
        if key not in self._moves:
            return
        start, before = self._moves.pop(key)
        if target is None:
            last = self.rows["partition_history"][-1]
            target = _without(last["replicas"], last["removing_replicas"])
        row = {**self._place(key), "start_offset": start.offset, "start_time": start.time}
        row |= {"end_offset": event and event.offset, "end_time": event and event.time}
        row["duration_ms"] = event and max(0, event.time - start.time)
        self.rows["reassignments"].append(
            row | {"outcome": outcome, "old_replicas": before, "new_replicas": target}
        )

    # Brokers

    def _register_broker_record(self, event: Event) -> None:
        value = event.value
        broker_id = value["broker_id"]
        if broker_id in self._brokers:
            self._end_broker(broker_id, event, "registered")
        else:
            self._count(event, "brokers_registered")
        state = {"broker_epoch": value["broker_epoch"], "fenced": value["fenced"]}
        state["in_controlled_shutdown"] = bool(value["in_controlled_shutdown"])
        self._brokers[broker_id] = Span(event, state, "registered")

    def _broker_registration_change_record(self, event: Event) -> None:
        change = {"fenced": {1: True, -1: False}.get(event.value["fenced"])}
        change["in_controlled_shutdown"] = True if event.value["in_controlled_shutdown"] == 1 else None
        self._broker_changed(event, event.value["broker_id"], change)

    def _fence_broker_record(self, event: Event) -> None:
        self._broker_changed(event, event.value["id"], {"fenced": True})

    def _unfence_broker_record(self, event: Event) -> None:
        self._broker_changed(event, event.value["id"], {"fenced": False})

    def _unregister_broker_record(self, event: Event) -> None:
        self._end_broker(event.value["broker_id"], event, "unregistered")
        del self._brokers[event.value["broker_id"]]
        self._count(event, "brokers_unregistered")

    def _broker_changed(self, event: Event, broker_id: int, change: Row) -> None:
        before = self._brokers[broker_id].state
        after = before | {name: value for name, value in change.items() if value is not None}
        if _broker_state(after) != _broker_state(before):
            self._end_broker(broker_id, event, "changed")
            self._brokers[broker_id] = Span(event, after, "changed")
        else:
            self._brokers[broker_id].state = after

    def _end_broker(self, broker_id: int, event: Event | None, ended_by: str | None) -> None:
        span = self._brokers[broker_id]
        row = {"broker_id": broker_id, "broker_epoch": span.state["broker_epoch"]}
        row |= {"state": _broker_state(span.state), "started_by": span.source, "ended_by": ended_by}
        self.rows["fencing_timeline"].append(row | self._interval(span.start, event))

    def _interval(self, start: Event, end: Event | None) -> Row:
        end_time = self.end_ms if end is None else end.time
        row = {"start_offset": start.offset, "start_time": start.time, "end_offset": end and end.offset}
        return row | {"end_time": end_time, "duration_ms": max(0, end_time - start.time)}

    # Configurations and the quorum

    def _config_record(self, event: Event) -> None:
        value = event.value
        key = value["resource_type"], value["resource_name"], value["name"]
        self._audit(event, key, value["value"], "removed" if value["value"] is None else "set")

    def _audit(self, event: Event, key: tuple[int, str, str], value: str | None, cause: str) -> None:
        ids = [topic_id for topic_id, name in self._topics.items() if key[0] == 2 and name == key[1]]
        row: Row = {"offset": event.offset, "time": event.time, "exact": True}
        row |= {"resource_type": CONFIG_TYPES[key[0]], "resource_name": key[1], "name": key[2]}
        row |= {"topic_id": ids[0] if ids else None, "old_value": self._configs.pop(key, None)}
        if row["old_value"] != value:
            self.rows["config_audit"].append(row | {"new_value": value, "cause": cause})
        if value is not None:
            self._configs[key] = value

    def _leader_change_message(self, event: Event) -> None:
        self._end_reign(event)
        row = self._quorum_row(event, "leader") | {"leader_id": event.value["leader_id"]}
        row["voters"] = sorted(voter["voter_id"] for voter in event.value["voters"])
        self._set_voters(event)
        self._reign = row | {"leader_epoch": event.epoch}

    def _voters_record(self, event: Event) -> None:
        self._set_voters(event)

    def _set_voters(self, event: Event) -> None:
        voters = sorted(voter["voter_id"] for voter in event.value["voters"])
        if voters != self._voters:
            self.rows["quorum_changes"].append(self._quorum_row(event, "voters") | {"voters": voters})
        self._voters = voters

    def _kraft_version_record(self, event: Event) -> None:
        version = {"kraft_version": event.value["kraft_version"]}
        self.rows["quorum_changes"].append(self._quorum_row(event, "kraft.version") | version)

    def _quorum_row(self, event: Event, change: str) -> Row:
        names = ("leader_id", "leader_epoch", "voters", "kraft_version", "end_offset", "end_time")
        row: Row = dict.fromkeys((*names, "duration_ms"))
        return row | {"offset": event.offset, "time": event.time, "change": change}

    def _end_reign(self, event: Event | None) -> None:
        if self._reign is None:
            return
        end = self.end_ms if event is None else event.time
        ended = {"end_offset": event and event.offset, "end_time": end}
        ended["duration_ms"] = max(0, end - self._reign["time"])
        self.rows["quorum_changes"].append(self._reign | ended)

    # Sums

    def _count(self, event: Event, name: str) -> None:
        hour = event.time // HOUR_MS * HOUR_MS
        self._growth[hour][name] += 1

    def _finish(self) -> None:
        for key in list(self._partitions):
            self._end_partition(key, None, self.end_ms, None)
            self._end_move(key, None, "running")
        for broker_id in self._brokers:
            self._end_broker(broker_id, None, None)
        self._end_reign(None)
        names = ("elected", "clean", "unclean", "from_elr", "preferred", "lost")
        self.rows["elections_per_broker"] = [
            {"broker_id": broker_id} | {name: votes[name] for name in names}
            for broker_id, votes in self._votes.items()
        ]
        self._sum_growth()
        self._sum_churn()
        self.rows |= outage_rows(self.rows["partition_history"])

    def _sum_growth(self) -> None:
        totals: Counter[str] = Counter()
        came = {"topics": "created", "partitions": "created", "brokers": "registered"}
        went = {"topics": "deleted", "partitions": "deleted", "brokers": "unregistered"}
        for hour, counted in sorted(self._growth.items()):
            row = {"hour": hour}
            for kind in came:
                plus, minus = f"{kind}_{came[kind]}", f"{kind}_{went[kind]}"
                totals[kind] += counted[plus] - counted[minus]
                row |= {plus: counted[plus], minus: counted[minus], kind: totals[kind]}
            self.rows["growth_per_hour"].append(row)

    def _sum_churn(self) -> None:
        churn: dict[tuple[Any, ...], Row] = {}
        for row in self.rows["isr_changes"]:
            hour = row["time"] // HOUR_MS * HOUR_MS
            place = {name: row[name] for name in ("topic_id", "topic", "partition_id")}
            entry = churn.setdefault(
                (hour, *place.values()), {"hour": hour, **place, "shrinks": 0, "expansions": 0}
            )
            entry["shrinks"] += bool(row["removed"])
            entry["expansions"] += bool(row["added"])
        self.rows["isr_churn_per_hour"] = list(churn.values())


def outage_rows(partition_history: list[Row]) -> dict[str, list[Row]]:
    """The views of outages, from the states of each partition."""
    by_partition: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in partition_history:
        by_partition[row["topic_id"], row["partition_id"]].append(row)
    rows: dict[str, list[Row]] = {"outages": [], "partition_availability": []}
    hourly: dict[tuple[Any, ...], Row] = {}
    for states in by_partition.values():
        place = {name: states[0][name] for name in ("topic_id", "topic", "partition_id")}
        total = {**place, "observed_ms": sum(state["duration_ms"] for state in states)}
        for kind, out in (("leaderless", _leaderless), ("under-replicated", _under_replicated)):
            field = kind.replace("-", "_")
            total[f"{field}_ms"] = sum(state["duration_ms"] for state in states if out(state))
            rows["outages"] += _joined(place | {"kind": kind}, states, out)
            for state in filter(out, states):
                _spread(hourly, place, f"{field}_ms", state["start_time"], state["end_time"])
        rows["partition_availability"].append(total)
    return rows | {"availability_per_hour": list(hourly.values())}


def _spread(hourly: dict[tuple[Any, ...], Row], place: Row, field: str, start: int, end: int) -> None:
    """Adds an interval to the hours that it overlaps."""
    while start < end:
        hour = start // HOUR_MS * HOUR_MS
        upto = min(end, hour + HOUR_MS)
        zero = {"hour": hour, **place, "leaderless_ms": 0, "under_replicated_ms": 0}
        hourly.setdefault((hour, *place.values()), zero)[field] += upto - start
        start = upto


def _joined(place: Row, states: list[Row], out: Any) -> list[Row]:
    rows: list[Row] = []
    last: Row | None = None
    for state in states:
        follows = last is not None and (last["end_offset"], last["ended_by"]) == (
            state["start_offset"],
            "changed",
        )
        if out(state) and last is not None and out(last) and follows:
            end = {name: state[name] for name in ("end_offset", "end_time", "ended_by")}
            rows[-1] |= end
        elif out(state):
            names = ("start_offset", "start_time", "end_offset", "end_time", "ended_by")
            rows.append(place | {name: state[name] for name in names})
        last = state
    for row in rows:
        row["duration_ms"] = max(0, row["end_time"] - row["start_time"])
    return rows


def _leaderless(state: Row) -> bool:
    return bool(state["leader"] == -1)


def _under_replicated(state: Row) -> bool:
    return len(state["isr"]) < len(_without(state["replicas"], state["adding_replicas"]))


def _without(values: list[int], others: list[int]) -> list[int]:
    return [value for value in values if value not in others]


def _broker_state(state: Row) -> str:
    if state["fenced"]:
        return "fenced"
    return "controlled shutdown" if state["in_controlled_shutdown"] else "unfenced"


def _kind(old: Row, new: Row, recovery: int | None) -> str:
    """Kafka's metrics count an unclean election when the record says so; a second one in a row does not.

    No controller writes that a partition begins to recover while it does; a random sequence may.
    """
    if recovery == 1 and old["leader_recovery_state"] != 1:
        return "unclean"
    if new["leader"] in old["isr"]:
        return "clean"
    if new["leader"] in old["eligible_leader_replicas"]:
        return "elr"
    return "unclean" if new["leader_recovery_state"] == 1 else "clean"


def _cause(old: Row, new: Row) -> str:
    if old["leader"] == -1:
        return "leaderless"
    if old["leader"] not in new["replicas"]:
        return "reassigned"
    if old["leader"] not in new["isr"]:
        return "failover"
    return "preferred" if new["leader"] == new["replicas"][0] else "moved"
