"""Calls for which the controller chooses brokers itself: by chance, unless there is only one.

Where such a call puts replicas is not compared, only how many; its topics are deleted next.
"""

from __future__ import annotations

from typing import Any

from tests.differential.call import Call

CHOSEN = ("Replicas", "Directories")


def names_placed_by_chance(call: Call) -> list[str]:
    """Returns the topics of the call for which the controller chooses brokers."""
    if call.api not in ("CreateTopics", "CreatePartitions"):
        return []
    if call.body.get("validateOnly") or call.body.get("ValidateOnly"):
        return []
    return sorted({topic["Name"] for topic in call.body.get("Topics") or [] if not topic["Assignments"]})


def deletion(names: list[str]) -> Call:
    return Call("DeleteTopics", 5, {"TopicNames": names, "TimeoutMs": 60000})


def without_choices(record: tuple[str, int, Any]) -> tuple[str, int, Any]:
    """Returns a partition's record with numbers of replicas instead of replicas.

    How many of them are in sync is chance, too: brokers that are fenced or shut down may be among them.
    """
    name, version, body = record
    if name != "PartitionRecord":
        return record
    counts = {key: len(body[key] or []) for key in CHOSEN if key in body}
    return name, version, {**body, **counts, "Isr": "chosen", "Leader": "chosen"}
