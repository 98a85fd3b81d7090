"""Differences that follow from others, recognised by what they consist of and by what a round has seen.

An entry of known_differences.toml names one as `avoided`, as it names what is wrong with a call; but such
calls are made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.differential.call import Call
from tests.differential.codec import Body
from tests.differential.compare import FENCED_AGAIN, Difference
from tests.differential.picture import Picture

RECOVERING = 1


class Consequences:
    """What one round has shown so far."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._failed_fetchers: set[int] = set()

    def fetch_has_failed(self, body: Body) -> None:
        """Kafka's controller throws at this Fetch, before it counts the replica."""
        state = body.get("ReplicaState") or {}
        self._failed_fetchers |= {state.get("ReplicaId", -1), body.get("ReplicaId", -1)}

    def noted(self, call: Call, found: list[Difference], known: frozenset[str]) -> list[Difference]:
        """Returns the differences of one call, each with what it may be due to besides `known`."""
        known |= {each.place for each in found} & {FENCED_AGAIN}
        return [replace(each, avoided=known | self._of(call, each, known)) for each in found]

    def _of(self, call: Call, difference: Difference, known: frozenset[str]) -> set[str]:
        found: set[str] = set()
        if call.body.get("IsMigratingZkBroker"):
            found.add("a broker of ZooKeeper")
        if call.api == "AlterPartitionReassignments" and self._names_cordoned(call.body):
            found.add("a cordoned broker")
        if self._picture.tokens_count:
            found.add("tokens count")
        if difference.place.endswith("Observers") and self._have_failed(difference):
            found.add("observers whose Fetch failed")
        if difference.place == "log" and FENCED_AGAIN in known and _are_unclean(difference.java):
            found.add("unclean elections of brokers that are fenced again")
        return found

    def _names_cordoned(self, body: Body) -> bool:
        cordoned = {each for each, broker in self._picture.brokers.items() if broker.is_cordoned}
        partitions = [each for topic in body["Topics"] or () for each in topic["Partitions"]]
        return any(cordoned & set(each["Replicas"] or ()) for each in partitions)

    def _have_failed(self, difference: Difference) -> bool:
        """Returns whether kraftctl has all of Kafka's observers, and else only those that it threw at."""
        java, ours = difference.java, list(difference.kraftctl)
        for each in java:
            if each not in ours:
                return False
            ours.remove(each)
        return all(each["ReplicaId"] in self._failed_fetchers for each in ours)


def _are_unclean(records: list[tuple[str, int, Any]]) -> bool:
    """Returns whether these change only partitions that they elect uncleanly."""
    elected = {_partition(body) for _, _, body in records if body.get("LeaderRecoveryState") == RECOVERING}
    return all(name == "PartitionChangeRecord" and _partition(body) in elected for name, _, body in records)


def _partition(body: Body) -> tuple[object, object]:
    return body.get("TopicId"), body.get("PartitionId")
