"""LoadProgress: lines for the log while much is loaded, one a second; none for what takes less."""

from __future__ import annotations

from typing import Final

NOTICE_MS: Final = 1_000

NOT_LOADING: Final = -1


class LoadProgress:
    """How long something is being loaded, and when it is named next."""

    def __init__(self) -> None:
        self._began_ms = NOT_LOADING
        self._notice_ms = 0
        self._was_named = False

    @property
    def has_ended(self) -> bool:
        """Whether nothing is being loaded."""
        return self._began_ms == NOT_LOADING

    def line(self, what: str, done: int, total: int, now_ms: int) -> str | None:
        """`done` of `total` bytes or offsets are loaded."""
        if self._began_ms == NOT_LOADING:
            self._began_ms = now_ms
            self._notice_ms = now_ms + NOTICE_MS
        if now_ms < self._notice_ms:
            return None
        self._notice_ms = now_ms + NOTICE_MS
        self._was_named = True
        return f"Loading {what}: {100 * done // max(total, 1)} % after {now_ms - self._began_ms} ms"

    def end(self, end_offset: int, now_ms: int) -> str | None:
        """Everything before `end_offset` is loaded; None if nothing was named."""
        line = None
        if self._was_named:
            line = f"Loaded the metadata up to offset {end_offset} in {now_ms - self._began_ms} ms"
        self._began_ms = NOT_LOADING
        self._was_named = False
        return line
