"""Checks --certificate and --key before the server reads them, which would ask for a password."""

from __future__ import annotations

import ssl
from pathlib import Path

from kraftctl_admin.errors import AdminError
from kraftctl_protocol.file_errors import file_error
from kraftctl_security.small_files import read_small_file


def check_pair(certificate: Path, key: Path) -> None:
    """Checks that a server can use both. Raises AdminError."""
    for flag, file in (("--certificate", certificate), ("--key", key)):
        try:
            read_small_file(file)
        except OSError as error:
            raise AdminError(f"{flag}: {file_error('read', file, error, named_by=flag)}") from error
    asked: list[bool] = []

    def password() -> str:
        asked.append(True)
        return ""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password)
    except (ssl.SSLError, ValueError) as error:
        if asked:
            raise AdminError(
                f"--key {key} is encrypted, and nothing is asked for its password. Next step: give a key"
                " without one (openssl pkey), which only this account may read"
            ) from error
        raise AdminError(
            f"--certificate {certificate} and --key {key} cannot be used together, or one is not in PEM. Next"
            " step: check both (openssl x509, openssl pkey)"
        ) from error
