"""ControllerNetwork: responses to clients and requests to other controllers, as effects see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mypy_extensions import mypyc_attr

from kraftctl.node.request_outcomes import Answer
from kraftctl.raft.effects import SendRequest
from kraftctl.server.loop.client_requests import Respond


class Peers(Protocol):
    """The connections to the other controllers."""

    def send(self, effect: SendRequest) -> None: ...


@mypyc_attr(free_list_len=1)
class ResponseTarget:
    """The callback of a request's connection, and the address that it came from."""

    def __init__(self, respond: Respond, address: bytes, of_voter: bool, decoded_bytes: int) -> None:
        self.respond = respond
        self.decoded_bytes = decoded_bytes
        self.address = address
        self.of_voter = of_voter


class ControllerNetwork:
    """Numbers the requests of all connections and keeps the callback of each until it is answered."""

    def __init__(self, peers: Peers, has_room: Callable[[], bool] = lambda: True) -> None:
        self._peers = peers
        self.has_room = has_room
        self._pending: dict[int, ResponseTarget] = {}
        self._next_request_id = 0
        self.decoded_bytes = 0
        """The memory of decoded requests that are not answered yet."""

    def accept(
        self, respond: Respond, address: bytes = b"", *, of_voter: bool = False, decoded_bytes: int = 0
    ) -> int:
        """Returns the id of a new request; `respond` is called once, unless it is cancelled before.

        `address`: the client's. `of_voter`: the request has the id of a voter. `decoded_bytes`: the memory
        that its body takes.
        """
        request_id = self._next_request_id
        self._next_request_id += 1
        self._pending[request_id] = ResponseTarget(respond, address, of_voter, decoded_bytes)
        self.decoded_bytes += decoded_bytes
        return request_id

    def cancel(self, request_id: int) -> bool:
        """Drops the callback of a closed connection. Returns whether the request was still unanswered."""
        pending = self._pending.pop(request_id, None)
        if pending is None:
            return False
        self.decoded_bytes -= pending.decoded_bytes
        return True

    def cancel_all(self) -> None:
        """Drops all callbacks: no request is answered any more."""
        self._pending.clear()
        self.decoded_bytes = 0

    def note_decoded(self, request_id: int, size_bytes: int) -> None:
        """Notes the memory that the body of an unanswered request takes."""
        pending = self._pending.get(request_id)
        if pending is not None:
            self.decoded_bytes += size_bytes - pending.decoded_bytes
            pending.decoded_bytes = size_bytes

    def awaits(self, request_id: int) -> bool:
        return request_id in self._pending

    def address_of(self, request_id: int) -> bytes:
        pending = self._pending.get(request_id)
        return b"" if pending is None else pending.address

    def is_voter(self, request_id: int) -> bool:
        pending = self._pending.get(request_id)
        return pending is not None and pending.of_voter

    def respond(self, request_id: int, answer: Answer) -> None:
        pending = self._pending.get(request_id)
        if pending is not None:
            # Not `pop`, which mypyc looks up by name.
            del self._pending[request_id]
            self.decoded_bytes -= pending.decoded_bytes
            pending.respond(answer)

    def send(self, effect: SendRequest) -> None:
        self._peers.send(effect)
