"""ScramImage: SCRAM credentials by mechanism and user (KIP-900)."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl.image.image_part import ImagePart
from kraftctl.image.undo_journal import JournalView, UndoJournal
from kraftctl.metadata import features
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.scram import ScramCredential


class ScramImage(ImagePart):
    """The credentials by (mechanism, user); mechanism 1 is SHA-256, 2 is SHA-512."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.credentials: dict[tuple[int, str], ScramCredential] = {}

    def credential(self, mechanism: int, user: str) -> ScramCredential | None:
        """Returns the user's credential for one mechanism."""
        return self.credentials.get((mechanism, user))

    def replay(self, record: Message, offset: int) -> None:
        if isinstance(record, UserScramCredentialRecord):
            self._put(record)
        elif isinstance(record, RemoveUserScramCredentialRecord):
            self._journal.remove(self.credentials, (record.mechanism, record.name))
        else:
            super().replay(record, offset)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        if not features.is_scram_supported(metadata_version):
            return
        for (mechanism, user), credential in view.items(self.credentials, self.credentials):
            record = UserScramCredentialRecord(
                name=user,
                mechanism=mechanism,
                salt=credential.salt,
                stored_key=credential.stored_key,
                server_key=credential.server_key,
                iterations=credential.iterations,
            )
            yield encode_metadata_record(record, 0)

    def _put(self, record: UserScramCredentialRecord) -> None:
        credential = ScramCredential(
            salt=record.salt,
            stored_key=record.stored_key,
            server_key=record.server_key,
            iterations=record.iterations,
        )
        self._journal.put(self.credentials, (record.mechanism, record.name), credential)
