"""The connection of a client to one node, and the operation that each of its requests is."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from tests.chaos.linearizability.history import History
from tests.chaos.linearizability.keys import Key
from tests.chaos.linearizability.operation import UNKNOWN, Operation, Promise
from tests.chaos.linearizability.requests import Ask, Result
from tests.support.wire.controller_client import ControllerClient

CALL_SECONDS_MAX = 3.0

READS = ("try", "describe", "get", "list")
"""Operations that change nothing: without a response they say nothing."""

M = TypeVar("M", bound=Message)


class Target:
    """A connection to one node, made again when it has ended."""

    def __init__(self, client: str, name: str, port: int, timeout_s: float = CALL_SECONDS_MAX) -> None:
        self.name = name
        self.port = port
        self.client_name = client
        self._timeout_s = timeout_s
        self._client: ControllerClient | None = None
        self._number = 0

    @property
    def connection(self) -> str:
        """A name for the present connection, in the chains of sequential reads."""
        return f"{self.client_name} {self.name} {self._number}"

    def ask(self, request: Message, version: int, response: type[M]) -> M:
        """Raises OSError without a response in time; the connection is gone then."""
        try:
            if self._client is None:
                self._client = ControllerClient(
                    self.port, client_id=self.client_name, timeout_s=self._timeout_s
                )
            return self._client.call(request, version, response)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        self._number += 1


def note(
    history: History,
    key: Key,
    name: str,
    argument: Hashable,
    target: Target,
    request: Callable[[Ask], Result],
    promise: Promise = Promise.LINEARIZABLE,
    *,
    at_least_once: bool = False,
) -> Hashable:
    """Makes the request and adds it to the history; returns its result."""
    invoked_ns = time.monotonic_ns()
    try:
        result = request(target.ask)
    except OSError:
        result = Result(UNKNOWN)
    returned_ns = time.monotonic_ns()
    if result.error and result.error != Errors.NOT_CONTROLLER:
        history.unexpected[f"{key.kind} {name}: {Errors(result.error).name}"] += 1
    is_unknown, is_only_read = result.value is UNKNOWN, name in READS
    if not (is_unknown and is_only_read):
        operation = Operation(
            f"{target.client_name} at {target.name}",
            name,
            argument,
            result.value,
            invoked_ns,
            None if is_unknown else returned_ns,
            promise,
            result.is_read,
            target.connection if promise is Promise.SEQUENTIAL else "",
        )
        history.add(key.kind, key.name, operation, at_least_once=at_least_once and not is_only_read)
    return result.value
