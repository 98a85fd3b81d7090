"""Long requests are decoded beside the loop, one after the other, while there is room for the result."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from kraftctl.apis.request_size import LARGE_REQUESTS_MEMORY_BYTES_MAX
from kraftctl.node.events import BodyRefused, ClientRequest, DecodeBody
from kraftctl.server.loop.body_freeing import BodyFreeing
from kraftctl.server.loop.executor_protocols import Inbox, Network, Scheduler
from kraftctl.server.process.finished_call import Finished
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, OverBudgetError

WAITING_BYTES_MAX: Final = 96 * 1024 * 1024
"""The bytes of requests that wait to be decoded: a thousand with a thousand partitions each, and more."""

RETRY_SECONDS: Final = 0.02
"""How long to wait for room before looking again: answers are not reported here."""


class BodyDecoding:
    """Carries out `DecodeBody`. What was decoded counts until it is answered or its connection is gone."""

    def __init__(self, scheduler: Scheduler, network: Network, inbox: Inbox) -> None:
        self._scheduler = scheduler
        self._network = network
        self._inbox = inbox
        self._waiting: deque[DecodeBody] = deque()
        self._freeing = BodyFreeing(scheduler, inbox)
        self._busy = False

    def stop(self) -> None:
        """Stops freeing; no further body is taken."""
        self._freeing.stop()

    def decode(self, effect: DecodeBody) -> None:
        """Answers `ClientRequest` or `BodyRefused`, unless its connection is gone."""
        self._drop_cancelled()
        waiting_bytes = sum(each.head.size_bytes for each in self._waiting)
        if self._waiting and waiting_bytes + effect.head.size_bytes > WAITING_BYTES_MAX:
            reason = f"{waiting_bytes} bytes of long requests wait to be decoded"
            self._inbox.offer(BodyRefused(effect.request_id, Errors.INVALID_REQUEST, reason))
            return
        self._waiting.append(effect)
        if not self._busy:
            self._begin()

    def _drop_cancelled(self) -> None:
        awaits = self._network.awaits
        self._waiting = deque(each for each in self._waiting if awaits(each.request_id))

    def _begin(self) -> None:
        """Decode the next one, or look again later; `_busy` until there is none."""
        self._drop_cancelled()
        self._busy = bool(self._waiting) and not self._inbox.ended
        if not self._busy:
            return
        effect = self._waiting[0]
        held_bytes = self._network.decoded_bytes
        if held_bytes and held_bytes + _memory_bytes_max(effect) > LARGE_REQUESTS_MEMORY_BYTES_MAX:
            self._scheduler.call_later(RETRY_SECONDS, partial(self._inbox.guarded, self._begin))
            return
        self._waiting.popleft()
        self._freeing.free_unused()
        self._scheduler.run_on_decoding_thread(partial(_decode, effect), partial(self._decoded, effect))

    def _decoded(self, effect: DecodeBody, decoding: Finished[Message]) -> None:
        error = decoding.exception()
        if error is not None:
            self._inbox.offer(BodyRefused(effect.request_id, _code_of(error), _reason_of(error)))
        else:
            body = decoding.result()
            self._network.note_decoded(effect.request_id, effect.head.drawn_bytes)
            self._inbox.offer_in_turn(effect.context.client_address, partial(self._offer, effect, body))
            self._freeing.hold(body, effect.head.drawn_bytes)
        self._begin()

    def _offer(self, effect: DecodeBody, body: Message) -> None:
        if self._network.awaits(effect.request_id):
            self._inbox.offer(ClientRequest(effect.request_id, effect.context, body))


def _reason_of(error: BaseException) -> str:
    return str(error) if isinstance(error, DecodeError) else f"{type(error).__name__} while it was decoded"


def _code_of(error: BaseException) -> Errors:
    """As for a short request in an envelope."""
    is_damaged = isinstance(error, DecodeError) and not isinstance(error, OverBudgetError)
    return Errors.UNSUPPORTED_VERSION if is_damaged else Errors.INVALID_REQUEST


def _memory_bytes_max(effect: DecodeBody) -> int:
    return effect.context.api.size.memory_bytes_max


def _decode(effect: DecodeBody, pause: Callable[[], object]) -> Message:
    return effect.head.decode_body(_memory_bytes_max(effect), pause)
