"""Reads the token that `kraftctl.operate.token.path` names."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from kraftctl.config.controller_config import ConfigException
from kraftctl.config.operate_config import TOKEN_BYTES_MAX, TOKEN_PATH
from kraftctl_protocol.file_errors import file_error
from kraftctl_security.small_files import mode_against_others, read_small_file

logger = logging.getLogger("kraftctl.server.operate")


def read_token(path: str, *, warns: bool = False) -> bytes:
    """Returns the token, which is not empty; `warns` if others may read it. Raises ConfigException, which
    names the file.
    """
    try:
        mode = mode_against_others(os.stat(path))
        if warns and mode is not None:
            logger.warning(
                "Other accounts may read the token in %s. Next step: chmod %s %s", path, mode, path
            )
        token = read_small_file(path, TOKEN_BYTES_MAX).strip()
    except OSError as error:
        text = file_error("read", Path(path), error, named_by=TOKEN_PATH)
        raise ConfigException([f"{TOKEN_PATH}: {text}"]) from None
    if not token:
        raise ConfigException([f"{TOKEN_PATH}: {path} is empty"])
    return token
