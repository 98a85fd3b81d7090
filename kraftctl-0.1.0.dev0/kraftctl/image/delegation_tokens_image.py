"""DelegationTokensImage: delegation tokens by id (KIP-900); their secrets are derived, not stored."""

from __future__ import annotations

import hmac
from collections.abc import Iterator

from kraftctl.image.image_part import ImagePart
from kraftctl.image.token_secrets import TokenSecrets, digest
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
        self._secrets: TokenSecrets | None = None
        self.tokens: dict[str, DelegationToken] = {}
        self._counts: dict[str, int] = {}
        """The number of tokens of each owner."""
        self._ids: dict[bytes, str] = {}
        """The ids by the digests of the secrets."""

    def use_secrets(self, secrets: TokenSecrets | None) -> None:
        """Lets tokens be found by their secrets; to be called before the first one is replayed."""
        assert not self.tokens
        self._secrets = secrets

    def count_of(self, owner: str) -> int:
        """Returns the number of tokens of an owner."""
        return self._counts.get(owner, 0)

    def token_of(self, secret: bytes) -> DelegationToken | None:
        """Returns the token with a secret, which is compared in constant time (CVE-2021-38153)."""
        token_id = self._ids.get(digest(secret))
        secrets = self._secrets
        if token_id is None or secrets is None:
            return None
        return self.tokens[token_id] if hmac.compare_digest(secrets.secret_of(token_id), secret) else None

    def replay(self, record: Message, offset: int) -> None:
        if isinstance(record, DelegationTokenRecord):
            self._put(record)
        elif isinstance(record, RemoveDelegationTokenRecord):
            self._remove(record.token_id)
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
        self._remove(record.token_id)
        self._journal.put(self.tokens, record.token_id, token)
        self._journal.put(self._counts, token.owner, self.count_of(token.owner) + 1)
        if self._secrets is not None:
            self._journal.put(self._ids, self._secrets.digest_of(record.token_id), record.token_id)

    def _remove(self, token_id: str) -> None:
        token = self.tokens.get(token_id)
        if token is None:
            return
        self._journal.remove(self.tokens, token_id)
        if self.count_of(token.owner) > 1:
            self._journal.put(self._counts, token.owner, self.count_of(token.owner) - 1)
        else:
            self._journal.remove(self._counts, token.owner)
        if self._secrets is not None:
            self._journal.remove(self._ids, self._secrets.digest_of(token_id))
