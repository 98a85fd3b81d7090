"""The histories of a run, by key: what clients did, what was returned, and whether an order allows it."""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from tests.chaos.linearizability.checker import Model, UndecidedError, violation
from tests.chaos.linearizability.models import (
    AclModel,
    ConfigModel,
    PartitionModel,
    ProducerIdModel,
    ReassignmentModel,
    TopicModel,
)
from tests.chaos.linearizability.operation import UNKNOWN, Operation, Promise

ISR = (1, 2, 3)
"""Of a new partition of a PartitionModel."""

MODELS: Mapping[str, Model] = {
    "topic": TopicModel(),
    "config": ConfigModel(),
    "acl": AclModel(),
    "partition": PartitionModel(ISR),
    "producer-ids": ProducerIdModel(),
    "reassignment": ReassignmentModel(),
}


class Verdict(NamedTuple):
    """One text for each key."""

    violations: list[str]
    """No order explains these."""
    undecided: list[str]
    """These have more configurations than the checker looks at."""


class History:
    """Operations of all clients. Thread-safe. A key is the kind of its model, and a name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._operations: defaultdict[tuple[str, str], list[Operation]] = defaultdict(list)
        self.unexpected: Counter[str] = Counter()
        """Errors that leave the outcome open, as "request: error"."""

    def add(self, kind: str, name: str, operation: Operation, *, at_least_once: bool = False) -> None:
        """Adds one. `at_least_once`: the broker in between may have sent it before, or may send it again."""
        with self._lock:
            operations = self._operations[kind, name]
            operations.append(operation)
            if at_least_once and operation.result is not UNKNOWN:
                operations.append(replace(operation, result=UNKNOWN, returned_ns=None, is_read=False))

    def save(self, path: Path) -> None:
        """Writes one line of JSON for each operation; `load` reads it."""
        with self._lock, open(path, "w") as file:
            for (kind, name), operations in sorted(self._operations.items()):
                for one in operations:
                    fields = asdict(one) | {"promise": one.promise.value, "open": one.result is UNKNOWN}
                    if one.result is UNKNOWN:
                        fields["result"] = None
                    print(json.dumps([kind, name, fields]), file=file)

    def names(self) -> list[tuple[str, str]]:
        """All keys: kind and name."""
        with self._lock:
            return sorted(self._operations)

    def figures(self) -> dict[str, int]:
        with self._lock:
            every = [one for operations in self._operations.values() for one in operations]
            return {
                "keys": len(self._operations),
                "operations": len(every),
                "unknown": sum(one.result is UNKNOWN for one in every),
                "sequential reads": sum(one.promise is Promise.SEQUENTIAL for one in every),
            }

    def counts(self) -> Counter[str]:
        """Operations with a response, by kind and name: "acl describe"."""
        with self._lock:
            return Counter(
                f"{kind} {one.name}"
                for (kind, _), operations in self._operations.items()
                for one in operations
                if one.result is not UNKNOWN
            )

    def judge(self) -> Verdict:
        """Returns what the checker says of all keys."""
        verdict = Verdict(self._ids_given_twice(), [])
        with self._lock:
            for (kind, name), operations in sorted(self._operations.items()):
                try:
                    found = violation(MODELS[kind], operations)
                except UndecidedError as error:
                    verdict.undecided.append(f"{kind} {name}: undecided: {error}")
                    continue
                if found is not None:
                    verdict.violations.append(f"{kind} {name}: {found}")
        return verdict

    def _ids_given_twice(self) -> list[str]:
        """Topic ids that two creations were told."""
        given: Counter[Hashable] = Counter(
            one.result
            for (kind, _), operations in self._operations.items()
            for one in operations
            if kind == "topic" and isinstance(one.result, tuple)
        )
        return [
            f"{result} was the response to {count} creations" for result, count in given.items() if count > 1
        ]


def load(path: Path) -> History:
    """What `save` has written."""
    history = History()
    for line in path.read_text().splitlines():
        kind, name, fields = json.loads(line)
        is_open = fields.pop("open")
        history.add(
            kind,
            name,
            Operation(
                **fields
                | {
                    "argument": _hashable(fields["argument"]),
                    "result": UNKNOWN if is_open else _hashable(fields["result"]),
                    "promise": Promise(fields["promise"]),
                }
            ),
        )
    return history


def _hashable(value: Any) -> Hashable:
    return tuple(_hashable(one) for one in value) if isinstance(value, list) else value
