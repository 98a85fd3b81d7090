"""The secret of which salts are made for users that do not exist: kraftctl_security.sasl.scram_salts.

It outlives the process, as real salts do. All controllers have the same one if they have
`delegation.token.secret.key`; otherwise each has its own, in a file of its directory.
"""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import cannot
from kraftctl_protocol.scram import MECHANISM_NUMBERS
from kraftctl_security.small_files import read_small_file

FILE_NAME: Final = "scram-unknown-users-secret"
SECRET_BYTES: Final = 32

STRETCHING: Final = 100_000
"""Iterations, 50 ms at start: who asks for salts must not find a weak key by trying."""


def unknown_users_secret(config: ControllerConfig, cluster_id: str) -> bytes:
    """Returns the secret. Raises StorageError if it cannot be kept."""
    if not any(
        mechanism in MECHANISM_NUMBERS for each in config.sasl.values() for mechanism in each.mechanisms
    ):
        return b""
    key = config.delegation_token_secret_key
    if key is not None:
        purpose = f"kraftctl: salts of unknown users of {cluster_id}".encode()
        return hashlib.pbkdf2_hmac("sha256", key.encode(), purpose, STRETCHING)
    return _kept(Path(config.metadata_log_dir) / FILE_NAME)


def _kept(path: Path) -> bytes:
    """Reads the file, or writes it. What is no secret is replaced: it protects nothing that is stored."""
    try:
        found = bytes.fromhex(read_small_file(path).decode("ascii"))
        if len(found) == SECRET_BYTES:
            return found
    except (FileNotFoundError, ValueError):
        pass
    except OSError as error:
        raise cannot("read", path, error) from error
    made = secrets.token_bytes(SECRET_BYTES)
    replace_file(path, f"{made.hex()}\n".encode())
    return made
