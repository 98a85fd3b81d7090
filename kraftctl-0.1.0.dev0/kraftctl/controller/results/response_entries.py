"""What a response lists: a limit, after which the request is refused or its connection closed."""

from __future__ import annotations

from typing import Final

from kraftctl.apis.request_size import RESPONSE_ENTRIES_MAX

ENTRIES_PER_ITEM: Final = 3
"""A topic or resource that a request names takes an object, a list and a text of the response, even if it
does not exist: 70,000 of them take 40 ms."""


class ResponseTooLongError(Exception):
    """The response would list too much. It is not sent; `refuse_failed` sends another one."""


class ResponseEntries:
    """Counts what is listed so far."""

    def __init__(self) -> None:
        self.count = 0

    def has_room(self, count: int) -> bool:
        """Returns whether this many more can be added."""
        return self.count + count <= RESPONSE_ENTRIES_MAX

    def add_items(self, count: int) -> None:
        """Counts more topics or resources. Raises ResponseTooLongError beyond the limit."""
        self.add(ENTRIES_PER_ITEM * count)

    def add(self, count: int) -> None:
        """Counts more entries. Raises ResponseTooLongError beyond the limit."""
        self.count += count
        if self.count > RESPONSE_ENTRIES_MAX:
            raise ResponseTooLongError(f"its response would list more than {RESPONSE_ENTRIES_MAX} entries")
