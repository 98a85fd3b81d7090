"""Loading: whether this node is loading the metadata, and what follows for elections (`loading_voter`)."""

from __future__ import annotations

from typing import Final

NOT_PUT_OFF: Final = -1


class Loading:
    """`put_off_until_ms` is when this voter begins an election at the latest, once one was due."""

    def __init__(self) -> None:
        self.is_loading = False
        self.put_off_until_ms = NOT_PUT_OFF
        self._has_followed = False
        self._has_handed_over = False

    def changed(self, is_loading: bool) -> None:
        """Notes the begin of loading, or its end."""
        self.is_loading = is_loading
        self.put_off_until_ms = NOT_PUT_OFF
        self._has_handed_over = False

    def leader_answered(self) -> None:
        """Notes that there is a leader, and so voters that have run for longer."""
        self._has_followed = True
        self.put_off_until_ms = NOT_PUT_OFF

    def prefers_others(self) -> bool:
        return self.is_loading and self._has_followed

    def put_off(self, until_ms: int) -> int:
        """Puts elections off until then, unless a time is set already. Returns the time that is set."""
        if self.put_off_until_ms == NOT_PUT_OFF:
            self.put_off_until_ms = until_ms
        return self.put_off_until_ms

    def wants_to_hand_over(self) -> bool:
        return self.prefers_others() and not self._has_handed_over

    def handed_over(self) -> None:
        self._has_handed_over = True
