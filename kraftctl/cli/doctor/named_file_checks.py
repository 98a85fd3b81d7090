"""Checks the files that keys of kraftctl name: a start reads or opens them, and is refused without them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kraftctl.cli.doctor.diagnosis import ERROR, WARN, Diagnosis, of_sentence, ok
from kraftctl.cli.doctor.subject import Subject
from kraftctl.config.audit_config import LogFileConfig
from kraftctl.config.controller_config import SCRAM_USERS_PATH, ConfigException, ControllerConfig
from kraftctl.config.operate_config import TOKEN_PATH
from kraftctl.operate.token_file import read_token
from kraftctl.server.security.local_users import read_users_file

CORRECT_PATH: Final = "create it for the account of the controller, or correct the path"


def check_named_files(subject: Subject) -> Iterator[Diagnosis]:
    """Reads what a start reads, and looks where it writes lines; it opens no file for writing."""
    config = subject.checked()
    logs = (config.audit.file, config.audit.authorizer_file)
    found = [*_unreadable(config), *(each for log in logs for each in _unwritable(log))]
    yield from found or [ok("each file that a key of kraftctl names can be used")]


def _unreadable(config: ControllerConfig) -> Iterator[Diagnosis]:
    try:
        if config.operate.token_path:
            read_token(config.operate.token_path)
    except ConfigException as error:
        yield of_sentence(ERROR, str(error), (), TOKEN_PATH)
    try:
        if config.scram_users_path:
            read_users_file(Path(config.scram_users_path))
    except ConfigException as error:
        yield of_sentence(ERROR, str(error), (), SCRAM_USERS_PATH)


def _unwritable(config: LogFileConfig) -> Iterator[Diagnosis]:
    """A file is renamed when it is full, so the account writes to its directory, too."""
    path = Path(config.path)
    if not config.path:
        return
    if not path.parent.is_dir():
        yield Diagnosis(ERROR, f"there is no directory {path.parent}", CORRECT_PATH, config.path_key)
    elif path.is_dir():
        yield Diagnosis(ERROR, f"{path} is a directory", "name a file in it", config.path_key)
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        step = "run as its owner, or chown it"
        yield Diagnosis(ERROR, f"this account cannot write to {path}", step, config.path_key)
    elif path.is_file() and not os.access(path.parent, os.W_OK):
        text = f"this account cannot rename {path} when it is full, nor write to it then"
        yield Diagnosis(WARN, text, f"let it write to {path.parent}", config.path_key)
