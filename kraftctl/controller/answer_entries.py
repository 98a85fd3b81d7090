"""What an answer lists that is not as long as its request: a limit, after which the connection is closed."""

from __future__ import annotations

from kraftctl.apis.request_size import ANSWER_ENTRIES_MAX


class AnswerTooLongError(Exception):
    """The answer would list too much. It is not sent, and the connection is closed."""


class AnswerEntries:
    """Counts what is listed so far."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, count: int) -> None:
        """So many more; AnswerTooLongError beyond the limit."""
        self.count += count
        if self.count > ANSWER_ENTRIES_MAX:
            raise AnswerTooLongError(f"its answer would list more than {ANSWER_ENTRIES_MAX} entries")
