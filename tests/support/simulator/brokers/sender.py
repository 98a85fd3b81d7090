"""Who sends a request of the model admin, and which way it goes."""

from __future__ import annotations


class Sender:
    """As whom a request is sent, and how, if that is not left to the admin."""

    def __init__(
        self, user: str, *, forwarded_share: float | None = None, node_id: int | None = None
    ) -> None:
        self.user = user
        self.forwarded_share = forwarded_share
        self.node_id = node_id
