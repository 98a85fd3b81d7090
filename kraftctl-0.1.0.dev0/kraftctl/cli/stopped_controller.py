"""What commands that change the directory of a controller that does not run have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from kraftctl.cli.start import load_config
from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError


def print_result(command: str, properties: Path, operation: Callable[[ControllerConfig], str]) -> int:
    """Prints what the operation returns, or why it is refused. Returns the exit status, 0 or 1."""
    try:
        print(operation(load_config(properties, [])))
        return 0
    except ConfigException as error:
        reasons = list(error.errors)
    except (StorageError, PropertiesError) as error:
        reasons = [str(error)]
    except OSError as unplaced:
        reasons = [unplaced_error(unplaced)]
    for reason in reasons:
        print(f"kraftctl {command}: {reason}", file=sys.stderr)
    return 1
