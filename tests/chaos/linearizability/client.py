"""A client that notes each request, its response and both times: to controllers, or through brokers."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Hashable, Sequence
from functools import partial

from tests.chaos.linearizability import requests
from tests.chaos.linearizability.history import ISR, History
from tests.chaos.linearizability.keys import Key, Keys
from tests.chaos.linearizability.operation import UNKNOWN, Promise
from tests.chaos.linearizability.requests import APPEND, DELETE, SET, Ask, Result
from tests.chaos.linearizability.target import Target, note
from tests.support.wire.controller_client import StandInBroker

PAUSE_S = 0.02
"""Between two requests of one client, at most twice that."""

REGISTER, LIST = "retention.ms", "leader.replication.throttled.replicas"
FIRST_VALUE_MS = 1_000_000_000


ISRS = ((1, 2, 3), (1, 2), (1, 3), (1,))
MOVES = ((1, 2, 4), (1, 2, 5), (1, 3, 6), (1, 4, 5), (1, 5, 6))


class HistoryClient:
    """One client. `leader` gives the position of the active controller among `controllers`, or None.

    With `brokers`, every second request goes through one of them.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        keys: Keys,
        history: History,
        controllers: Sequence[int],
        brokers: Sequence[int],
        leader: Callable[[], int | None],
        is_spared: Callable[[int], bool],
        stand_ins: Sequence[StandInBroker] = (),
    ) -> None:
        """`controllers` and `brokers` are ports. Who is spared is asked for sequential reads only."""
        self.name = name
        self._rng = random.Random(f"{seed} {name}")
        self._keys = keys
        self._history = history
        self._controllers = [Target(name, f"controller {n}", port) for n, port in enumerate(controllers)]
        self._brokers = [Target(name, f"broker {n}", port) for n, port in enumerate(brokers)]
        self._leader = leader
        self._is_spared = is_spared
        self._stand_ins = stand_ins
        self._last_leader = 0

    def close(self) -> None:
        for target in [*self._controllers, *self._brokers]:
            target.close()

    def run(self, ended: threading.Event) -> None:
        while not ended.wait(self._rng.uniform(0, 2 * PAUSE_S)):
            self.do_something()

    def do_something(self) -> None:
        """One operation on one key. Returns when its outcome is known, or known to be open."""
        key = self._keys.take(self._rng.choice(self._keys.kinds), self._rng)
        if not key.is_prepared and not self._prepare(key):
            return
        getattr(self, f"_{key.kind.replace('-', '_')}")(key)

    # Who is asked.

    def _active(self) -> Target:
        """The active controller, or the last one that was known; rarely, any."""
        position = self._leader()
        if position is not None:
            self._last_leader = position
        if self._rng.random() < 0.02:
            return self._rng.choice(self._controllers)
        return self._controllers[self._last_leader]

    def _through(self) -> Target:
        """For a request to the active controller: itself, or a broker that forwards it."""
        if self._brokers and self._rng.random() < 0.5:
            return self._rng.choice(self._brokers)
        return self._active()

    def _any(self) -> Target:
        """For a sequential read."""
        if self._brokers and self._rng.random() < 0.5:
            return self._rng.choice(self._brokers)
        return self._rng.choice(self._controllers)

    def _note(
        self,
        key: Key,
        name: str,
        argument: Hashable,
        target: Target,
        request: Callable[[Ask], Result],
        promise: Promise = Promise.LINEARIZABLE,
    ) -> Hashable:
        """Makes the request and notes it; returns its result."""
        of_leader = promise is Promise.LINEARIZABLE and target in self._controllers
        if of_leader and self._is_spared(self._controllers.index(target)):
            return UNKNOWN
        is_forwarded = target in self._brokers
        return note(self._history, key, name, argument, target, request, promise, at_least_once=is_forwarded)

    def _prepare(self, key: Key) -> bool:
        """Creates the topic of a config, a partition or a reassignment. False while it is not there."""
        if key.kind in ("topic", "acl", "producer-ids"):
            key.is_prepared = True
            return True
        if not key.lock.acquire(blocking=False):
            return False
        try:
            assignment = ISR if self._stand_ins else ()
            created = requests.create_topic(self._active().ask, key.name, assignment).value
        except OSError:
            return False
        finally:
            key.lock.release()
        if created == "exists" and key.kind == "partition":
            self._keys.retire(key)  # its topic id went to no client
        elif created == "exists" or isinstance(created, tuple):
            key.topic_id = created[1] if isinstance(created, tuple) else ""
            key.is_prepared = True
        return key.is_prepared

    # The kinds.

    def _topic(self, key: Key) -> None:
        name = self._rng.choices(["create", "delete", "try", "read"], [4, 3, 2, 2])[0]
        assignment = ISR if self._stand_ins else ()
        if name == "create":
            create = partial(requests.create_topic, name=key.name, assignment=assignment)
            self._note(key, name, None, self._through(), create)
        elif name == "delete":
            self._note(key, name, None, self._through(), partial(requests.delete_topic, name=key.name))
        elif name == "try":
            attempt = partial(requests.create_topic, name=key.name, assignment=assignment, validate_only=True)
            self._note(key, name, None, self._active(), attempt)
        else:
            target = self._any()
            if target in self._brokers:
                describe = partial(requests.describe_topic, name=key.name)
                self._note(key, "describe", None, target, describe, Promise.SEQUENTIAL)
            else:
                exists = partial(requests.topic_exists, name=key.name)
                self._note(key, "try", None, target, exists, Promise.SEQUENTIAL)

    def _config(self, key: Key) -> None:
        # Half of the keys are lists, to which concurrent clients append.
        is_list = int(key.name.rpartition("-")[2]) % 2 == 0
        config = LIST if is_list else REGISTER
        name = self._rng.choices(["write", "delete", "get"], [5, 1, 5])[0]
        if name == "get":
            describe = partial(requests.describe_config, topic=key.name, key=config)
            self._note(key, name, None, self._any(), describe, Promise.SEQUENTIAL)
            return
        number = self._keys.number()
        value = f"0:{number}" if is_list else f"{FIRST_VALUE_MS + number}"
        word, operation = ("append", APPEND) if is_list else ("set", SET)
        if name == "delete":
            word, operation, value = "delete", DELETE, ""
        alter = partial(
            requests.alter_config, topic=key.name, key=config, operation=operation, value=value or None
        )
        # A broker may append once more after a deletion: too many histories would be possible.
        target = self._active() if is_list else self._through()
        self._note(key, word, value or None, target, alter)

    def _acl(self, key: Key) -> None:
        name = self._rng.choices(["create", "delete", "describe"], [3, 3, 2])[0]
        if name == "create":
            self._note(key, name, None, self._through(), partial(requests.create_acl, name=key.name))
        elif name == "delete":
            self._note(key, name, None, self._through(), partial(requests.delete_acl, name=key.name))
        else:
            describe = partial(requests.describe_acl, name=key.name)
            self._note(key, name, None, self._any(), describe, Promise.SEQUENTIAL)

    def _partition(self, key: Key) -> None:
        expected = max(0, key.epoch - (self._rng.random() < 0.1))
        isr = self._rng.choice(ISRS)

        def alter(ask: Ask) -> Result:
            return requests.alter_partition(ask, self._stand_ins, key.topic_id, expected, isr)

        result = self._note(key, "alter", (expected, isr), self._active(), alter)
        if isinstance(result, int):
            key.epoch = max(key.epoch, result)
        elif result == "stale":
            key.epoch = max(key.epoch, expected + 1)

    def _producer_ids(self, key: Key) -> None:
        broker = self._rng.choice(self._stand_ins)
        self._note(
            key, "allocate", None, self._active(), partial(requests.allocate_producer_ids, broker=broker)
        )

    def _reassignment(self, key: Key) -> None:
        name = self._rng.choices(["alter", "cancel", "list"], [3, 2, 4])[0]
        if name == "list":
            self._note(
                key,
                name,
                None,
                self._active(),
                partial(requests.list_reassignment, topic=key.name),
            )
            return
        replicas = self._rng.choice(MOVES) if name == "alter" else None
        alter = partial(requests.alter_reassignment, topic=key.name, replicas=replicas)
        self._note(key, name, replicas, self._active(), alter)
