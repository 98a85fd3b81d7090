"""SCRAM credentials given to `kraftctl format --add-scram` (KIP-900), as bootstrap records.

A cluster whose brokers authenticate to one another with SCRAM cannot start without them: the credentials are
in the metadata that they protect.
"""

from __future__ import annotations

from kraftctl.storage.errors import StorageError
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_security.sasl.scram_users import ScramUserError, parse_scram_user

NO_NAME = (
    "--add-scram: The 'name' value is empty. kafka-storage accepts it, too, but no client can log in with it."
    " Next step: if a shell variable should have been there, set it and format an empty directory again."
)


def has_no_name(record: RecordAndVersion) -> bool:
    """Returns True for a user without effect, which is probably a mistake."""
    return isinstance(record.record, UserScramCredentialRecord) and not record.record.name


def scram_record(argument: str) -> RecordAndVersion:
    """Returns the record for one argument such as `SCRAM-SHA-256=[name=alice,password=alice-secret]`.

    Raises StorageError when the argument is not understood; its message never repeats a password.
    """
    try:
        user = parse_scram_user(argument)
    except ScramUserError as error:
        raise StorageError(f"--add-scram: {error}") from error
    record = UserScramCredentialRecord(
        name=user.name,
        mechanism=user.mechanism,
        salt=user.credential.salt,
        stored_key=user.credential.stored_key,
        server_key=user.credential.server_key,
        iterations=user.credential.iterations,
    )
    return RecordAndVersion(record, 0)
