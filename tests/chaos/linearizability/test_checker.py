"""The checker against all permutations, random histories that have an order, and violations by name."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import pytest

from tests.chaos.linearizability.checker import IMPOSSIBLE, Model, violation
from tests.chaos.linearizability.models import (
    AclModel,
    ConfigModel,
    PartitionModel,
    ProducerIdModel,
    ReassignmentModel,
    TopicModel,
)
from tests.chaos.linearizability.operation import UNKNOWN, Operation, Promise
from tests.support.effort import seeds

ISR = (1, 2, 3)


def op(
    name: str, argument: Hashable, result: Hashable, sent: int, answered: int | None, **more: object
) -> Operation:
    return Operation("client", name, argument, result, sent, answered, **more)  # type: ignore[arg-type]


def read(name: str, result: Hashable, sent: int, answered: int, connection: str = "") -> Operation:
    """Sequential if there is a connection."""
    promise = Promise.SEQUENTIAL if connection else Promise.LINEARIZABLE
    return op(name, None, result, sent, answered, promise=promise, is_read=True, connection=connection)


# Random histories that have an order.


def requests(model: Model, rng: random.Random, state: Hashable, number: int) -> tuple[str, Hashable, bool]:
    """Name, argument, and whether it is a read."""
    if isinstance(model, TopicModel):
        return rng.choice([("create", None, False), ("delete", None, False), ("describe", None, True)])
    if isinstance(model, ConfigModel):
        asked = [("set", f"{number}", False), ("append", f"{number}", False), ("delete", None, False)]
        return rng.choice([*asked, ("get", None, True)])
    if isinstance(model, AclModel):
        return rng.choice([("create", None, False), ("delete", None, False), ("describe", None, True)])
    if isinstance(model, PartitionModel):
        assert isinstance(state, tuple)
        expected = max(0, state[0] - rng.choice([0, 0, 1]))
        return "alter", (expected, rng.choice([(1, 2), ISR, (1, 3)])), False
    if isinstance(model, ProducerIdModel):
        return "allocate", None, False
    return rng.choice([("alter", (1, number % 4), False), ("cancel", None, False), ("list", None, True)])


def result_of(name: str, state: Hashable, argument: Hashable, number: int) -> tuple[Hashable, bool]:
    """What a right server responds, and whether it refuses."""
    if name in ("get", "describe", "list", "allocate"):
        return state, False
    if name == "create" and not isinstance(state, int):
        return (("created", f"id-{number}"), False) if state is None else ("exists", True)
    if name == "delete" and isinstance(state, int):
        return state, False
    if name == "delete" and not isinstance(state, tuple):
        return ("absent", True) if state is None else ("deleted", False)
    if name == "cancel":
        return ("none", True) if state is None else ("made", False)
    if name == "alter" and isinstance(argument, tuple) and isinstance(argument[1], tuple):
        assert isinstance(state, tuple)  # of a partition
        is_expected = argument[0] == state[0]
        return (state[0] + (argument[1] != state[1]) if is_expected else "stale"), not is_expected
    return "made", False


def history(model: Model, rng: random.Random, length: int, spread: int = 30) -> list[Operation]:
    """In the order of effects: each at ten times its place, between a request and a response."""
    state, operations = model.initial, []
    seen: dict[str, int] = {}
    states = [state]
    for number in range(1, length + 1):
        name, argument, is_read = requests(model, rng, state, number)
        result, is_refused = result_of(name, state, argument, number)
        at = number * 10
        one = op(
            name,
            argument,
            result,
            at - rng.randrange(spread),
            at + rng.randrange(spread),
            is_read=is_read or is_refused,
        )
        after = model.step(state, one)
        assert after is not IMPOSSIBLE
        if is_read and rng.random() < 0.4:
            # Of an earlier state, and not before what the connection has seen already.
            connection = rng.choice("ab")
            seen[connection] = rng.randrange(seen.get(connection, 0), len(states))
            one = replace(
                one,
                result=states[seen[connection]],
                promise=Promise.SEQUENTIAL,
                connection=connection,
                invoked_ns=at,  # the order of the requests is that of the chain
                returned_ns=at + rng.randrange(spread),
            )
        elif not one.is_read and rng.random() < 0.15:
            one = replace(one, result=UNKNOWN, returned_ns=None)
            after = rng.choice([state, model.step(state, one)])
        state = after
        states.append(state)
        operations.append(one)
    return operations


MODELS: list[Callable[[], Model]] = [
    TopicModel,
    ConfigModel,
    AclModel,
    lambda: PartitionModel(ISR),
    ProducerIdModel,
    ReassignmentModel,
]
NAMES = ["topics", "configs", "acls", "partitions", "producer-ids", "reassignments"]


@pytest.mark.parametrize("make", MODELS, ids=NAMES)
def test_histories_that_have_an_order_are_accepted(make: Callable[[], Model]) -> None:
    for seed in seeds(25):
        rng = random.Random(seed)
        operations = history(make(), rng, rng.randrange(1, 60))
        rng.shuffle(operations)
        found = violation(make(), operations)
        assert found is None, f"seed {seed}: {found}"


# All permutations of short histories, most of which have no order.


def has_order(model: Model, operations: Sequence[Operation]) -> bool:
    """By trying all: with each choice of the operations without a response that were made."""
    unknown = [one for one in operations if one.result is UNKNOWN]
    known = [one for one in operations if one.result is not UNKNOWN]
    for count in range(len(unknown) + 1):
        for made in itertools.combinations(unknown, count):
            for order in itertools.permutations([*known, *made]):
                if in_time(order) and in_steps(model, order):
                    return True
    return False


def in_time(order: Sequence[Operation]) -> bool:
    for place, one in enumerate(order):
        for later in order[place + 1 :]:
            # `later` had its response before `one` was sent.
            begins = -1 if one.promise is Promise.SEQUENTIAL else one.invoked_ns
            if later.returned_ns is not None and later.returned_ns < begins:
                return False
            same = one.connection and one.connection == later.connection
            if same and later.invoked_ns < one.invoked_ns:
                return False
    return True


def in_steps(model: Model, order: Sequence[Operation]) -> bool:
    state = model.initial
    for one in order:
        state = model.step(state, one)
        if state is IMPOSSIBLE:
            return False
    return True


def random_operations(model: Model, rng: random.Random) -> list[Operation]:
    """A few, with results that a server may give at some time."""
    operations, states = [], [model.initial]
    times = rng.sample(range(60), 60)
    for number in range(1, rng.randrange(3, 7)):
        name, argument, is_read = requests(model, rng, rng.choice(states), number)
        result, is_refused = result_of(name, rng.choice(states[-3:]), argument, number)
        sent = times.pop()
        one = op(name, argument, result, sent, sent + rng.randrange(1, 30), is_read=is_read or is_refused)
        if is_read and rng.random() < 0.5:
            one = replace(one, promise=Promise.SEQUENTIAL, connection=rng.choice("ab"))
        elif not is_read and rng.random() < 0.25:
            one = replace(one, result=UNKNOWN, returned_ns=None, is_read=False)
        after = model.step(states[-1], one)
        states += [after] if after is not IMPOSSIBLE else []
        operations.append(one)
    return operations


@pytest.mark.parametrize("make", MODELS, ids=NAMES)
def test_verdicts_are_those_of_all_permutations(make: Callable[[], Model]) -> None:
    verdicts = set()
    for seed in seeds(120):
        operations = random_operations(make(), random.Random(seed))
        expected = has_order(make(), operations)
        verdicts.add(expected)
        found = violation(make(), operations)
        assert (found is None) == expected, f"seed {seed}: {found}\n" + "\n".join(map(str, operations))
    assert verdicts == {True, False}


# Violations by name.

VIOLATIONS = [
    pytest.param(
        ConfigModel(),
        [op("append", "a", "made", 0, 1), op("append", "b", "made", 2, 3), read("get", ("b",), 4, 5)],
        id="lost-update",
    ),
    pytest.param(
        ConfigModel(),
        [op("set", "a", "made", 0, 1), op("set", "b", "made", 2, 3), read("get", ("a",), 4, 5)],
        id="stale-read",
    ),
    pytest.param(
        ConfigModel(),
        [op("set", "a", "made", 0, 1), read("get", ("b",), 2, 3)],
        id="value-without-a-writer",
    ),
    pytest.param(
        ConfigModel(),
        [op("set", "a", "made", 4, 6), read("get", ("a",), 1, 3, "x")],
        id="sequential-read-of-the-future",
    ),
    pytest.param(
        ConfigModel(),
        [
            op("set", "a", "made", 0, 1),
            op("set", "b", "made", 2, 3),
            read("get", ("b",), 4, 5, "x"),
            read("get", ("a",), 6, 7, "x"),
        ],
        id="sequential-read-that-goes-back",
    ),
    pytest.param(
        ConfigModel(),
        [
            op("set", "a", UNKNOWN, 0, None),
            op("set", "b", "made", 2, 3),
            read("get", ("a",), 4, 5),
            read("get", ("b",), 6, 7),
            read("get", ("a",), 8, 9),
        ],
        id="one-write-made-twice",
    ),
    pytest.param(
        TopicModel(),
        [op("create", None, ("created", "x"), 0, 4), op("create", None, ("created", "y"), 1, 5)],
        id="created-twice",
    ),
    pytest.param(
        TopicModel(),
        [op("create", None, ("created", "x"), 0, 1), op("try", None, "absent", 2, 3, is_read=True)],
        id="acknowledged-and-absent",
    ),
    pytest.param(
        TopicModel(),
        [
            op("create", None, ("created", "x"), 0, 1),
            op("delete", None, "deleted", 2, 9),
            op("delete", None, "deleted", 3, 8),
        ],
        id="deleted-twice",
    ),
    pytest.param(
        AclModel(),
        [op("create", None, "made", 0, 1), op("delete", None, 0, 2, 3)],
        id="acl-lost",
    ),
    pytest.param(
        PartitionModel(ISR),
        [op("alter", (0, (1, 2)), 1, 0, 5), op("alter", (0, (1, 3)), 1, 1, 6)],
        id="two-compare-and-sets-with-one-epoch",
    ),
    pytest.param(
        PartitionModel(ISR),
        [op("alter", (0, (1, 2)), "stale", 0, 5, is_read=True)],
        id="refused-without-a-reason",
    ),
    pytest.param(
        ProducerIdModel(),
        [op("allocate", None, 0, 0, 5), op("allocate", None, 0, 6, 8)],
        id="one-block-twice",
    ),
    pytest.param(
        ProducerIdModel(),
        [op("allocate", None, 1000, 0, 5), op("allocate", None, 0, 6, 8)],
        id="blocks-that-fall",
    ),
    pytest.param(
        ReassignmentModel(),
        [op("alter", (1, 4), "made", 0, 1), read("list", None, 2, 3)],
        id="reassignment-lost",
    ),
    pytest.param(
        ReassignmentModel(),
        [
            op("alter", (1, 4), "made", 0, 1),
            op("cancel", None, "made", 2, 3),
            read("list", (1, 4), 4, 5),
        ],
        id="cancelled-and-there",
    ),
]


@pytest.mark.parametrize(("model", "operations"), VIOLATIONS)
def test_violations_are_refused(model: Model, operations: list[Operation]) -> None:
    assert not has_order(model, operations)
    found = violation(model, operations)
    assert found is not None
    assert found.startswith("no order allows ")


IMPOSSIBLE_RESULTS = [
    pytest.param(ConfigModel(), "get", None, ("of no client",), id="configs"),
    pytest.param(AclModel(), "describe", None, 2, id="acls"),
    pytest.param(PartitionModel(ISR), "alter", (10_000, ISR), "stale", id="partitions"),
    pytest.param(ProducerIdModel(), "allocate", None, 500, id="producer-ids"),
    pytest.param(ReassignmentModel(), "list", None, (9, 9), id="reassignments"),
]
"""Not of topics: an id that no response had may be that of a creation without a response."""


@pytest.mark.parametrize(("model", "name", "argument", "result"), IMPOSSIBLE_RESULTS)
def test_a_result_that_no_state_had_is_refused_in_a_long_history(
    model: Model, name: str, argument: Hashable, result: Hashable
) -> None:
    planted = op(name, argument, result, 300, 330, is_read=name != "allocate")
    for seed in seeds(10):
        operations = history(model, random.Random(seed), 60)
        assert violation(model, [*operations, planted]) is not None, f"seed {seed}"


def test_operations_without_a_response_cost_little() -> None:
    """Each may be the last write: as many configurations as writes, not as sets of writes."""
    open_ones = [op("set", f"{number}", UNKNOWN, number, None) for number in range(40)]
    reads = [read("get", (f"{number}",), 100 + 10 * number, 105 + 10 * number) for number in range(40)]
    assert violation(ConfigModel(), open_ones + reads) is None
    assert violation(ConfigModel(), [*open_ones, *reads, read("get", ("3",), 900, 901)]) is not None
