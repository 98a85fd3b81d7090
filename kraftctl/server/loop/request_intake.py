"""The requests of all connections, on their way to the node: numbered, and offered to its loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.raft import events
from kraftctl.raft.raft_node import RaftNode
from kraftctl.server.loop.client_requests import RequestHandler, Respond, client_event, lacks_right
from kraftctl.server.loop.controller_network import ControllerNetwork
from kraftctl.server.loop.fetching_replica import fetching_replica
from kraftctl.server.loop.node_loop import NodeLoop
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import RequestHead


class AskedNode(Protocol):
    """`ControllerNode`, as far as requests ask it something outside of a step."""

    @property
    def raft(self) -> RaftNode: ...

    @property
    def controller(self) -> QuorumController: ...


class RequestIntake(RequestHandler):
    """Hands requests of clients over to the node."""

    def __init__(self, node: AskedNode, network: ControllerNetwork, node_loop: NodeLoop) -> None:
        self._node = node
        self._network = network
        self._node_loop = node_loop
        self.turns = node_loop.turns

    def begin(self, frame: bytes) -> int:
        """Returns when the request begins, as `RequestHandler.begin` says."""
        return self.turns.begin(frame, busy=self._node_loop.is_busy())

    def end(self, address: bytes, began_ns: int) -> None:
        """Charges the time since `began_ns` to this turn of the loop."""
        self.turns.end(address, began_ns)

    def begin_later(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call` when requests from `address` have time and memory."""
        self.turns.begin_later(address, call)

    def begin_soon(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call` when urgent requests from `address` have time."""
        self.turns.begin_soon(address, call)

    def must_respond_later(self, api_key: int) -> bool:
        """Returns whether this turn has no time left to send a response to this API."""
        return self.turns.must_wait(api_key)

    def respond_later(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call`, which sends a response to `address`, in another turn."""
        self.turns.continue_later(address, call)

    def has_waiting(self) -> bool:
        """Returns whether requests or responses wait for the next turn."""
        return self.turns.has_waiting()

    def submit(
        self,
        context: RequestContext,
        content: Message | RequestHead,
        respond: Respond,
        decoded_bytes: int = 0,
    ) -> int:
        """Hands a request to the node. `respond` is called once, possibly in here, unless it is cancelled."""
        of_voter = isinstance(content, Message) and self.is_voter(fetching_replica(content))
        request_id = self._network.accept(
            respond, context.client_address, of_voter=of_voter, decoded_bytes=decoded_bytes
        )
        self._node_loop.offer(client_event(request_id, context, content))
        return request_id

    def cancel(self, request_id: int) -> None:
        """The connection is gone; what the request changes is still changed."""
        if self._network.cancel(request_id):
            self._node_loop.offer(events.RequestCancelled(request_id))

    def lacks_right(self, context: RequestContext) -> bool:
        """Whether requests of this API and client are refused for lack of a right on the cluster."""
        return lacks_right(self._node.controller, context)

    def is_voter(self, replica_id: int) -> bool:
        """Whether a voter has this id, as far as this node knows."""
        return replica_id >= 0 and replica_id in self._node.raft.voter_set.voter_ids()
