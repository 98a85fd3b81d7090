"""The end of a call on another thread: its result or its exception."""

from __future__ import annotations

from typing import Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Finished(Protocol[T_co]):
    """A call that has ended: with an exception, or with a result."""

    def exception(self) -> BaseException | None: ...

    def result(self) -> T_co: ...
