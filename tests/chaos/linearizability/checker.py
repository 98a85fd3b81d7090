"""Whether a history of one key has an order that its model allows: just-in-time linearization (Lowe, 2017).

The checker reads the history from its first event to its last and keeps all configurations that are possible:
a state of the model, and which operations have taken effect although their responses come later. An operation
takes effect only when a response needs it: its own, or that of an operation that comes after it. No
configuration left: the history is not linearizable.

Four rules keep the number of configurations small, and lose none that matters:

1. A read that agrees with the state takes effect immediately: it changes nothing, and nothing waits for it.
2. Of operations without a response that ask for the same, the earliest goes first.
3. Of two configurations with one state, that which has used fewer operations without a response suffices.
4. An operation without a response whose effect no result shows is left out (`Model.may_show`).

A sequential read may have been of any earlier state, so it does not wait for its request: the reads of one
connection are a chain that is followed as soon as the states agree, and must be followed up to each read when
its response comes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from enum import Enum
from typing import NamedTuple, Protocol

from tests.chaos.linearizability.operation import UNKNOWN, Operation, Promise

CONFIGURATIONS_MAX = 20_000
"""More than that, and the history counts as undecided: a shorter one has to be taken."""

SHOWN_MAX = 12


class Impossible(Enum):
    """What a model says of a result that its state does not allow."""

    IMPOSSIBLE = "impossible"


IMPOSSIBLE = Impossible.IMPOSSIBLE


class Model(Protocol):
    """What one key is without concurrency."""

    initial: Hashable

    def step(self, state: Hashable, operation: Operation) -> Hashable:
        """Returns the next state, or IMPOSSIBLE. An UNKNOWN one is always possible."""

    def is_past(self, state: Hashable, operation: Operation) -> bool:
        """Returns whether neither this state nor any after it allows the operation."""

    def may_show(self, operation: Operation, seen: Set[Hashable]) -> bool:
        """Returns whether a result that was `seen` may depend on this operation without a response."""


class UndecidedError(Exception):
    """The history has too many configurations: neither an order nor a violation is known."""


class Configuration(NamedTuple):
    """One of the ways in which the history may have gone so far."""

    state: Hashable
    taken: frozenset[int]
    """Operations that have taken effect and whose responses come later."""
    used: frozenset[int]
    """Operations that have taken effect and have no response."""
    places: tuple[int, ...]
    """Of each connection, how many of its sequential reads are followed."""


class _Configurations:
    """Configurations that wait for their turn, without those that rule 3 leaves out."""

    def __init__(self) -> None:
        self._known: defaultdict[tuple[Hashable, ...], list[frozenset[int]]] = defaultdict(list)
        self._waiting: deque[Configuration] = deque()
        self.count = 0

    def add(self, one: Configuration) -> None:
        known = self._known[one.state, one.taken, one.places]
        if any(used <= one.used for used in known):
            return
        known.append(one.used)
        self._waiting.append(one)
        self.count += 1

    def __iter__(self) -> Iterator[Configuration]:
        """Those that have used fewest come first, if they were added so."""
        while self._waiting:
            yield self._waiting.popleft()


def violation(model: Model, operations: Iterable[Operation]) -> str | None:
    """Returns why the history of one key has no order, or None. UndecidedError if that takes too long."""
    return _Search(model, operations).run()


class _Search:
    def __init__(self, model: Model, operations: Iterable[Operation]) -> None:
        self._model = model
        ordered = sorted(operations, key=lambda one: one.invoked_ns)
        seen = frozenset(one.result for one in ordered)
        self._operations = [one for one in ordered if one.result is not UNKNOWN or model.may_show(one, seen)]
        self._chains: list[list[int]] = []
        self._chain_of: dict[int, tuple[int, int]] = {}
        """Sequential read -> its chain, and the place in it that has passed it."""
        self._find_chains()
        self._pending_reads: dict[int, None] = {}
        self._pending: dict[int, None] = {}
        """All others that were sent and may take effect, in that order."""

    def _find_chains(self) -> None:
        by_connection: defaultdict[str, list[int]] = defaultdict(list)
        for index, one in enumerate(self._operations):
            if one.promise is Promise.SEQUENTIAL:
                by_connection[one.connection].append(index)
        for chain in by_connection.values():
            for place, index in enumerate(chain, 1):
                self._chain_of[index] = len(self._chains), place
            self._chains.append(chain)

    def run(self) -> str | None:
        start = Configuration(self._model.initial, frozenset(), frozenset(), (0,) * len(self._chains))
        found = {self._with_reads(start)}
        for _, is_return, index in self._events():
            if is_return:
                after = self._returned(found, index)
                if not after:
                    return self._describe(index, found)
                self._pending.pop(index, None)
                self._pending_reads.pop(index, None)
                found = after
            elif self._operations[index].is_read:
                self._pending_reads[index] = None
                found = {self._with_reads(one) for one in found}
            else:
                self._pending[index] = None
        return None

    def _events(self) -> list[tuple[int, bool, int]]:
        """At one moment, requests come before responses."""
        events = []
        for index, one in enumerate(self._operations):
            if index not in self._chain_of:
                events.append((one.invoked_ns, False, index))
            if one.returned_ns is not None:
                events.append((one.returned_ns, True, index))
        return sorted(events)

    def _returned(self, found: set[Configuration], index: int) -> set[Configuration]:
        """What the configurations may have become when that response comes."""
        ended = _Configurations()
        waiting = _Configurations()
        for one in sorted(found, key=lambda one: len(one.used)):
            waiting.add(one)
        for one in waiting:
            if self._has(one, index):
                ended.add(one._replace(taken=one.taken - {index}))
                continue
            if self._model.is_past(one.state, self._operations[index]):
                continue
            for after in self._steps(one):
                waiting.add(after)
            if waiting.count > CONFIGURATIONS_MAX:
                raise UndecidedError(f"{waiting.count} configurations at {self._operations[index]}")
        return set(ended)

    def _has(self, one: Configuration, index: int) -> bool:
        if index in self._chain_of:
            chain, place = self._chain_of[index]
            return one.places[chain] >= place
        return index in one.taken

    def _steps(self, one: Configuration) -> Iterator[Configuration]:
        """What one more operation makes of it."""
        asked: set[tuple[str, Hashable]] = set()
        for index in self._pending:
            if index in one.taken or index in one.used:
                continue
            operation = self._operations[index]
            taken, used = one.taken, one.used
            if operation.result is UNKNOWN:
                same = (operation.name, operation.argument)
                if same in asked:
                    continue
                asked.add(same)
                used = used | {index}
            else:
                taken = taken | {index}
            state = self._model.step(one.state, operation)
            if state is IMPOSSIBLE or (operation.result is UNKNOWN and state == one.state):
                continue
            yield self._with_reads(Configuration(state, taken, used, one.places))

    def _with_reads(self, one: Configuration) -> Configuration:
        """With all reads that agree with its state."""
        state = one.state
        agreeing = [i for i in self._pending_reads if i not in one.taken and self._agrees(i, state)]
        places = tuple(
            self._followed(chain, place, state) for chain, place in zip(self._chains, one.places, strict=True)
        )
        return Configuration(state, one.taken.union(agreeing), one.used, places)

    def _followed(self, chain: Sequence[int], place: int, state: Hashable) -> int:
        while place < len(chain) and self._agrees(chain[place], state):
            place += 1
        return place

    def _agrees(self, index: int, state: Hashable) -> bool:
        return self._model.step(state, self._operations[index]) is not IMPOSSIBLE

    def _describe(self, index: int, found: set[Configuration]) -> str:
        states = sorted({repr(one.state) for one in found})[:SHOWN_MAX]
        operation = self._operations[index]
        assert operation.returned_ns is not None
        before = [one for one in self._operations if one.invoked_ns <= operation.returned_ns]
        lines = [f"no order allows {operation}", f"  states before it: {', '.join(states)}"]
        return "\n".join(lines + [f"  {one}" for one in before[-SHOWN_MAX:]])
