"""ScramImage: SCRAM credentials by mechanism and user (KIP-900)."""

from __future__ import annotations

from kraftctl.image.undo_journal import UndoJournal
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.scram import ScramCredential


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
