"""Checks how a command reaches listeners for probes: --operate, --operate-token and --operate-ca."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from kraftctl.config.operate_config import TOKEN_BYTES_MAX
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.counted_text import counted
from kraftctl_protocol.file_errors import file_error
from kraftctl_security.small_files import read_small_file

SCHEMES: Final = ("http", "https")

CERTIFICATES_BYTES_MAX: Final = 16 * 1024 * 1024


def is_header_text(text: str) -> bool:
    """Returns whether a header may have the text: visible characters of ASCII, and spaces."""
    return text.isascii() and text.isprintable()


def read_token_file(flag: str, file: Path, *, bytes_min: int = 1) -> str:
    """Reads a token, which is one line. Raises AdminError, whose text shows nothing of the file."""
    try:
        content = read_small_file(file, TOKEN_BYTES_MAX)
    except OSError as error:
        raise AdminError(f"{flag}: {file_error('read', file, error, named_by=flag)}") from error
    try:
        token = content.decode().strip()
    except UnicodeDecodeError:
        token = "\0"
    if not is_header_text(token):
        raise AdminError(
            f"{flag} {file} is not one line of visible characters of ASCII, as a token in a header is."
            " Next step: write the token alone into it"
        )
    if len(token) < bytes_min:
        raise AdminError(f"{flag} {file} has {counted(len(token), 'byte')}: {bytes_min} or more are needed.")
    return token


def check_operate_urls(urls: Sequence[str]) -> list[str]:
    """Returns the addresses of listeners without a slash at the end. Raises AdminError."""
    for url in urls:
        try:
            parts = urlsplit(url)
            is_usable = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_usable = False
        if not is_usable or not is_header_text(url) or any(each in url for each in " ?#@"):
            raise AdminError(f"--operate {url} is no address of a listener: write http://HOST:PORT.")
    return [url.rstrip("/") for url in urls]


def trust_in(flag: str, file: Path) -> ssl.SSLContext:
    """Returns a context that trusts the certificates in a file. Raises AdminError."""
    try:
        content = read_small_file(file, CERTIFICATES_BYTES_MAX)
    except OSError as error:
        raise AdminError(f"{flag}: {file_error('read', file, error, named_by=flag)}") from error
    try:
        return ssl.create_default_context(cadata=content.decode("ascii", errors="replace"))
    except (ssl.SSLError, ValueError) as error:
        raise AdminError(
            f"{flag} {file} has no certificates that can be read. Next step: give a file in PEM"
        ) from error
