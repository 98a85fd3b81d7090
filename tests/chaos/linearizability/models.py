"""What the objects of a cluster are without concurrency, one key at a time. States are small and hashable."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import cast

from tests.chaos.linearizability.checker import IMPOSSIBLE
from tests.chaos.linearizability.operation import UNKNOWN, Operation

PRODUCER_IDS_PER_BLOCK = 1000

SOME_ID = "created without a response"
"""A topic id that was in no response."""


class PlainModel:
    """The part of models whose states may come back, and whose operations without a response are few."""

    def is_past(self, state: Hashable, operation: Operation) -> bool:
        return False

    def may_show(self, operation: Operation, seen: Set[Hashable]) -> bool:
        return True


class TopicModel(PlainModel):
    """A topic by its name: None, or its topic id.

    create -> ("created", id) or "exists"; try (validateOnly) -> "absent" or "exists"; delete -> "deleted" or
    "absent"; describe -> id or None.
    """

    initial: Hashable = None

    def step(self, state: Hashable, operation: Operation) -> Hashable:
        result = operation.result
        if operation.name == "create":
            if result is UNKNOWN:
                return SOME_ID if state is None else state
            if result == "exists":
                return state if state is not None else IMPOSSIBLE
            return cast(tuple[str, Hashable], result)[1] if state is None else IMPOSSIBLE
        if operation.name == "delete":
            if result is UNKNOWN:
                return None
            return None if (result == "deleted") == (state is not None) else IMPOSSIBLE
        if operation.name == "try":
            return state if (result == "exists") == (state is not None) else IMPOSSIBLE
        assert operation.name == "describe", operation
        if state == SOME_ID:
            return state if result is not None else IMPOSSIBLE
        return state if result == state else IMPOSSIBLE


class ConfigModel(PlainModel):
    """One config of one resource: a tuple, empty if it is not set.

    set of a value, append of an item, delete -> "made"; get -> the tuple. Values and items are unique.
    """

    initial: Hashable = ()

    def step(self, state: Hashable, operation: Operation) -> Hashable:
        if operation.name == "set":
            return (operation.argument,)
        if operation.name == "append":
            items = cast(tuple[Hashable, ...], state)
            return items if operation.argument in items else (*items, operation.argument)
        if operation.name == "delete":
            return ()
        assert operation.name == "get", operation
        return state if operation.result == state else IMPOSSIBLE

    def may_show(self, operation: Operation, seen: Set[Hashable]) -> bool:
        """A value that no read has: until the next one is set there was no read, so it changes no result."""
        shown = {value for result in seen if isinstance(result, tuple) for value in result}
        return operation.name == "delete" or operation.argument in shown


class AclModel(PlainModel):
    """One binding, 0 or 1 times. create -> "made"; delete -> how many it removed; describe -> how many."""

    initial: Hashable = 0

    def step(self, state: Hashable, operation: Operation) -> Hashable:
        if operation.name == "create":
            return 1
        if operation.name == "delete":
            return 0 if operation.result in (UNKNOWN, state) else IMPOSSIBLE
        assert operation.name == "describe", operation
        return state if operation.result == state else IMPOSSIBLE


class PartitionModel(PlainModel):
    """The ISR of a partition, by compare-and-set: (partition epoch, ISR).

    alter (expected epoch, ISR) -> the partition epoch after it, or "stale".
    """

    def __init__(self, isr: tuple[int, ...]) -> None:
        self.initial: Hashable = (0, isr)

    def step(self, state: Hashable, operation: Operation) -> Hashable:
        assert operation.name == "alter", operation
        epoch, isr = cast(tuple[int, tuple[int, ...]], state)
        expected, wanted = cast(tuple[int, tuple[int, ...]], operation.argument)
        after = (epoch if wanted == isr else epoch + 1, wanted)
        if operation.result is UNKNOWN:
            return after if epoch == expected else state
        if operation.result == "stale":
            return state if epoch > expected else IMPOSSIBLE
        return after if epoch == expected and operation.result == after[0] else IMPOSSIBLE

    def is_past(self, state: Hashable, operation: Operation) -> bool:
        """Partition epochs only rise."""
        expected = cast(tuple[int, object], operation.argument)[0]
        return operation.result != "stale" and cast(tuple[int, object], state)[0] > expected


class ProducerIdModel(PlainModel):
    """The first producer id that is free. allocate -> the first one of the block."""

    initial: Hashable = 0

    def step(self, state: Hashable, operation: Operation) -> Hashable:
        assert operation.name == "allocate", operation
        possible = operation.result is UNKNOWN or operation.result == state
        return cast(int, state) + PRODUCER_IDS_PER_BLOCK if possible else IMPOSSIBLE

    def is_past(self, state: Hashable, operation: Operation) -> bool:
        """Producer ids only rise."""
        return operation.result is not UNKNOWN and cast(int, state) > cast(int, operation.result)


class ReassignmentModel(PlainModel):
    """The replicas that a partition moves to, or None.

    alter of replicas -> "made"; cancel -> "made" or "none"; list -> the replicas or None.
    """

    initial: Hashable = None

    def step(self, state: Hashable, operation: Operation) -> Hashable:
        if operation.name == "alter":
            return operation.argument
        if operation.name == "cancel":
            if operation.result is UNKNOWN:
                return None
            return None if (operation.result == "made") == (state is not None) else IMPOSSIBLE
        assert operation.name == "list", operation
        return state if operation.result == state else IMPOSSIBLE
