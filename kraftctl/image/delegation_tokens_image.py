"""DelegationTokensImage: delegation tokens by id (KIP-900); their secrets are derived, not stored."""

from __future__ import annotations

from kraftctl.image.undo_journal import UndoJournal
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord


class DelegationToken:
    """One token; principals as `User:name`, times in Unix milliseconds. Not changed after construction."""

    def __init__(
        self,
        *,
        token_id: str,
        owner: str,
        requester: str,
        renewers: tuple[str, ...],
        issue_timestamp_ms: int,
        max_timestamp_ms: int,
        expiration_timestamp_ms: int,
    ) -> None:
        self.token_id = token_id
        self.owner = owner
        self.requester = requester
        self.renewers = renewers
        self.issue_timestamp_ms = issue_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.expiration_timestamp_ms = expiration_timestamp_ms

    @property
    def expires_at_ms(self) -> int:
        """From then on it is not valid any more."""
        return min(self.max_timestamp_ms, self.expiration_timestamp_ms)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DelegationToken)
            and self.token_id == other.token_id
            and self.owner == other.owner
            and self.requester == other.requester
            and self.renewers == other.renewers
            and self.issue_timestamp_ms == other.issue_timestamp_ms
            and self.max_timestamp_ms == other.max_timestamp_ms
            and self.expiration_timestamp_ms == other.expiration_timestamp_ms
        )

    def __hash__(self) -> int:
        return hash(self.token_id)

    def __repr__(self) -> str:
        return f"DelegationToken({self.token_id}, owner={self.owner})"


class DelegationTokensImage:
    """All tokens, expired ones too until a sweep removes them."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.tokens: dict[str, DelegationToken] = {}

    def replay(self, record: DelegationTokenRecord) -> None:
        token = DelegationToken(
            token_id=record.token_id,
            owner=record.owner,
            requester=record.requester,
            renewers=tuple(record.renewers),
            issue_timestamp_ms=record.issue_timestamp,
            max_timestamp_ms=record.max_timestamp,
            expiration_timestamp_ms=record.expiration_timestamp,
        )
        self._journal.put(self.tokens, record.token_id, token)

    def replay_removed(self, token_id: str) -> None:
        self._journal.remove(self.tokens, token_id)
