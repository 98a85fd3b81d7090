"""Decoded requests are freed beside the loop, in steps: 128 MiB of small objects take 50 ms otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from kraftctl.server.loop.executor_protocols import Inbox, Scheduler
from kraftctl.server.process.finished_call import Finished
from kraftctl_protocol.message import Message

FREED_AT_ONCE_BYTES_MAX: Final = 4 * 1024 * 1024
"""What a smaller body takes is freed with its last reference, in 3 ms."""

LOOK_SECONDS: Final = 0.02
"""How often to look which bodies are no longer needed: their last reference is not reported."""

FREED_AT_ONCE_MAX: Final = 200
"""How many elements of a list are freed together."""

ELEMENTS_PER_PAUSE: Final = 2_000


def _references_of_an_element() -> int:
    elements: list[object] = [[]]
    return sys.getrefcount(elements[0])


def _references_of_an_element_and_a_variable() -> int:
    elements: list[object] = [[]]
    element = elements[0]
    return sys.getrefcount(element)


ONLY_THE_LIST: Final = _references_of_an_element()
ONLY_A_VARIABLE_AND_ITS_OWNER: Final = _references_of_an_element_and_a_variable()
"""What `sys.getrefcount` returns: 2 and 3, as it counts its argument, or less where that is only borrowed."""


class BodyFreeing:
    """Keeps long bodies until nothing else does. Then other threads may run while one is freed."""

    def __init__(self, scheduler: Scheduler, inbox: Inbox) -> None:
        self._scheduler = scheduler
        self._inbox = inbox
        self._held: list[Message] = []
        self._looks = False
        self._stopped = False

    def hold(self, body: Message, size_bytes: int) -> None:
        """Free `body`, which takes so much, once it is no longer used."""
        if size_bytes > FREED_AT_ONCE_BYTES_MAX and not self._stopped:
            self._held.append(body)
            self._look_later()

    def free_unused(self) -> None:
        """Begin to free what is no longer used; before more is decoded, as it takes the memory of it."""
        for index in range(len(self._held) - 1, -1, -1):
            if sys.getrefcount(self._held[index]) == ONLY_THE_LIST and not self._inbox.ended:
                self._scheduler.run_on_decoding_thread(partial(free, self._held.pop(index)), _freed)

    def stop(self) -> None:
        """Hold nothing any more."""
        self._stopped = True
        self._held.clear()

    def _look_later(self) -> None:
        if self._held and not self._looks:
            self._looks = True
            self._scheduler.call_later(LOOK_SECONDS, partial(self._inbox.guarded, self._look))

    def _look(self) -> None:
        self._looks = False
        self.free_unused()
        self._look_later()


def _freed(freeing: Finished[int]) -> None:
    """There is nothing to report."""


def free(message: Message, pause: Callable[[], object]) -> int:
    """Empty the lists of `message` and of what is in them, unless something else refers to them.

    `pause` is called now and then. Returns how often.
    """
    return _Freeing(pause).free(message)


class _Freeing:
    def __init__(self, pause: Callable[[], object]) -> None:
        self._pause = pause
        self._since_pause = 0
        self._pauses = 0

    def free(self, message: Message) -> int:
        for name in _lists_of(type(message)):
            elements = getattr(message, name)
            if elements and sys.getrefcount(elements) == ONLY_A_VARIABLE_AND_ITS_OWNER:
                self._empty(elements)
        return self._pauses

    def _empty(self, elements: list[object]) -> None:
        has_lists = isinstance(elements[0], Message) and _lists_of(type(elements[0]))
        while elements:
            last = elements[-FREED_AT_ONCE_MAX:]
            del elements[-FREED_AT_ONCE_MAX:]
            if has_lists:
                self._free_lists_of(last, has_lists)
            self._since_pause += len(last)
            del last
            if self._since_pause >= ELEMENTS_PER_PAUSE:
                self._since_pause = 0
                self._pauses += 1
                self._pause()

    def _free_lists_of(self, messages: list[object], names: tuple[str, ...]) -> None:
        """Empty the lists in these messages. Most have none, or short ones, and there may be a million."""
        for message in messages:
            if sys.getrefcount(message) != ONLY_A_VARIABLE_AND_ITS_OWNER:
                continue
            for name in names:
                elements = getattr(message, name)
                if elements and sys.getrefcount(elements) == ONLY_A_VARIABLE_AND_ITS_OWNER:
                    self._empty(elements)


_LISTS: dict[type[Message], tuple[str, ...]] = {}


def _lists_of(message: type[Message]) -> tuple[str, ...]:
    """The names of the fields that are lists, looked up once for each class."""
    names = _LISTS.get(message)
    if names is None:
        names = tuple([field.name for field in message.FIELDS if field.type.startswith("[]")])
        _LISTS[message] = names
    return names
