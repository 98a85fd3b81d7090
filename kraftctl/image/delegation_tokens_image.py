"""DelegationTokensImage: delegation tokens by id (KIP-900); their secrets are derived, not stored."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl.image.image_part import ImagePart
from kraftctl.image.undo_journal import JournalView, UndoJournal
from kraftctl.metadata import features
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record


class DelegationToken:
    """A token with principals as `User:name` and times in Unix milliseconds. It does not change after
    construction.
    """

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
        """The token is valid before this time only."""
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


class DelegationTokensImage(ImagePart):
    """All tokens, expired ones too until a sweep removes them."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.tokens: dict[str, DelegationToken] = {}

    def replay(self, record: Message, offset: int) -> None:
        if isinstance(record, DelegationTokenRecord):
            self._put(record)
        elif isinstance(record, RemoveDelegationTokenRecord):
            self._journal.remove(self.tokens, record.token_id)
        else:
            super().replay(record, offset)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        if not features.is_delegation_token_supported(metadata_version):
            return
        for token_id, token in view.items(self.tokens, self.tokens):
            record = DelegationTokenRecord(
                owner=token.owner,
                requester=token.requester,
                renewers=list(token.renewers),
                issue_timestamp=token.issue_timestamp_ms,
                max_timestamp=token.max_timestamp_ms,
                expiration_timestamp=token.expiration_timestamp_ms,
                token_id=token_id,
            )
            yield encode_metadata_record(record, 0)

    def _put(self, record: DelegationTokenRecord) -> None:
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
