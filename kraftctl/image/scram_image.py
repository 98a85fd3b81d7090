"""ScramImage: SCRAM credentials by mechanism and user (KIP-900)."""

from __future__ import annotations

from kraftctl.image.undo_journal import UndoJournal
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord


class ScramCredential:
    """What a server keeps of a password (RFC 5802). Not changed after construction."""

    def __init__(self, *, salt: bytes, stored_key: bytes, server_key: bytes, iterations: int) -> None:
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ScramCredential)
            and self.salt == other.salt
            and self.stored_key == other.stored_key
            and self.server_key == other.server_key
            and self.iterations == other.iterations
        )

    def __hash__(self) -> int:
        return hash(self.salt)

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations})"


class ScramImage:
    """`credentials` maps (mechanism, user) to the credential; mechanism 1 is SHA-256, 2 is SHA-512."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.credentials: dict[tuple[int, str], ScramCredential] = {}

    def credential(self, mechanism: int, user: str) -> ScramCredential | None:
        """The user's credential for one mechanism."""
        return self.credentials.get((mechanism, user))

    def replay(self, record: UserScramCredentialRecord) -> None:
        credential = ScramCredential(
            salt=record.salt,
            stored_key=record.stored_key,
            server_key=record.server_key,
            iterations=record.iterations,
        )
        self._journal.put(self.credentials, (record.mechanism, record.name), credential)

    def replay_removed(self, mechanism: int, user: str) -> None:
        self._journal.remove(self.credentials, (mechanism, user))
