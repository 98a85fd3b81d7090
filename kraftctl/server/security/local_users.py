"""The file of users that this node knows before the metadata log: kraftctl.scram.users.path.

Users of SCRAM are in the metadata log, and controllers learn from each other which part of it is committed.
When all have stopped and authenticate to each other by SCRAM, none can be the first: Kafka's controllers
form no quorum then.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from kraftctl.config.controller_config import SCRAM_USERS_PATH, ConfigException, ControllerConfig
from kraftctl_protocol.file_errors import file_error
from kraftctl_protocol.scram import MECHANISM_NUMBERS
from kraftctl_security.config_providers.variables import provider_begun
from kraftctl_security.sasl.scram_users import ScramUserError, ScramUsers, parse_scram_users
from kraftctl_security.small_files import mode_against_others, read_small_file

logger = logging.getLogger("kraftctl.server.sasl")

FILE_BYTES_MAX: Final = 1024 * 1024


def read_local_users(config: ControllerConfig, unknown_secret: bytes = b"") -> ScramUsers:
    """Reads the file. Raises ConfigException, which names the file and the line and shows no password."""
    users: ScramUsers = {}
    if config.scram_users_path:
        users = read_users_file(Path(config.scram_users_path), unknown_secret, warns=True)
        logger.info("%d users of SCRAM are in %s", len(users), config.scram_users_path)
    _warn_without_own_user(config, users)
    return users


def read_users_file(path: Path, unknown_secret: bytes = b"", *, warns: bool = False) -> ScramUsers:
    """Reads the file alone; `warns` if others may read it. Raises ConfigException as `read_local_users`."""
    try:
        status = path.stat()
        if status.st_size > FILE_BYTES_MAX:
            raise ConfigException([f"{SCRAM_USERS_PATH}: {path} has more than {FILE_BYTES_MAX:,} bytes"])
        mode = mode_against_others(status)
        if warns and mode is not None:
            logger.warning("Other accounts may read the passwords in %s. Next step: chmod %s", path, mode)
        text = read_small_file(path, FILE_BYTES_MAX).decode()
        _refuse_variables(path, text)
        return parse_scram_users(text, unknown_secret)
    except ScramUserError as error:
        raise ConfigException([f"{SCRAM_USERS_PATH}: {path}, {error}"]) from None
    except UnicodeDecodeError:
        raise ConfigException([f"{SCRAM_USERS_PATH}: {path} is not UTF-8"]) from None
    except OSError as error:
        text = file_error("read", path, error, named_by=SCRAM_USERS_PATH)
        raise ConfigException([f"{SCRAM_USERS_PATH}: {text}"]) from None


def _refuse_variables(path: Path, text: str) -> None:
    name = provider_begun(text)
    if name is not None:
        reason = f"has ${{{name}:...}}, which is not replaced in this file"
        next_step = "write the password, or saltedpassword with salt and iterations"
        raise ConfigException([f"{SCRAM_USERS_PATH}: {path} {reason}. Next step: {next_step}"])


def _warn_without_own_user(config: ControllerConfig, users: ScramUsers) -> None:
    own = config.controller_sasl
    alone = max(len(config.controller_quorum_voters), len(config.controller_quorum_bootstrap_servers)) < 2
    if own is None or alone or own.mechanism not in MECHANISM_NUMBERS:
        return
    name = own.options.get("username", "")
    if (MECHANISM_NUMBERS[own.mechanism], name) not in users:
        logger.warning(
            "User:%s, as which controllers connect to each other by %s, is only in the metadata"
            " log: after all of them have stopped, they cannot read it and form no quorum. Next step:"
            " put the user into a file on each controller, and name it in %s.",
            name,
            own.mechanism,
            SCRAM_USERS_PATH,
        )
