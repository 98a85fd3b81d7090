"""Handles files of a controller that cannot be read: the error names the file and the next step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftctl_observer.log_reader import ObserverError
from kraftctl_protocol.file_errors import file_error

NAMED_BY = "the directory of the controller"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raises ObserverError for a file that cannot be read; FileNotFoundError for one deleted meanwhile."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ObserverError(file_error("read", path, error, named_by=NAMED_BY)) from error
