"""Reads the token that `kraftctl.operate.token.path` names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kraftctl.config.controller_config import ConfigException
from kraftctl.config.operate_config import TOKEN_PATH
from kraftctl_protocol.file_errors import file_error
from kraftctl_security.small_files import read_small_file

TOKEN_BYTES_MAX: Final = 4 * 1024


def read_token(path: str) -> bytes:
    """Returns the token, which is not empty. Raises ConfigException, which names the file."""
    try:
        token = read_small_file(path, TOKEN_BYTES_MAX).strip()
    except OSError as error:
        text = file_error("read", Path(path), error, named_by=TOKEN_PATH)
        raise ConfigException([f"{TOKEN_PATH}: {text}"]) from None
    if not token:
        raise ConfigException([f"{TOKEN_PATH}: {path} is empty"])
    return token
