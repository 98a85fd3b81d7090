"""Reads keystores and truststores of a running controller by a process of its own.

Its methods block: do not call them on the loop.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Final

from kraftctl_security.authentication_failures import plain_text
from kraftctl_security.tls.contexts import Stores
from kraftctl_security.tls.ssl_config import SslConfig
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.store_files import store_states
from kraftctl_security.tls.store_process import ReadLimits, request_of, stores_of

REASON_BYTES_MAX: Final = 4_096

_PROGRAM: Final = "from kraftctl_security.tls.store_process import main; main()"

_END_SECONDS: Final = 1.0
"""A process that was killed while a file system does not answer ends later."""


class UnreadStoreError(StoreError):
    """The process that reads the stores has failed, which says nothing of the stores: read them again."""


def read_stores(config: SslConfig, limits: ReadLimits | None = None) -> Stores:
    """Returns the stores of a configuration. Raises StoreError; OSError when there can be no process."""
    limits = limits or ReadLimits()
    files = store_states(config)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ":".join(each for each in sys.path if each)},
        start_new_session=True,  # Ctrl-C at a terminal is for the controller
    )
    try:
        request = request_of(config.keystore, config.truststore, limits)
        answered, said = process.communicate(request, limits.seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        raise UnreadStoreError(f"{_named(config)} {_why_ended(-signal.SIGALRM, limits)}") from None
    if process.returncode != 0 or not answered:
        why = _why_ended(process.returncode, limits)
        raise UnreadStoreError(f"{_named(config)} {why}{_last_line(said)}")
    stores = stores_of(answered)
    stores.files = files
    return stores


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        pass


def _named(config: SslConfig) -> str:
    stores = {"the keystore": config.keystore, "the truststore": config.truststore}
    return " and ".join(
        what if each.location is None else f"{what} {each.location}"
        for what, each in stores.items()
        if each is not None
    )


def _last_line(said: bytes) -> str:
    lines = said[-REASON_BYTES_MAX:].decode(errors="replace").split("\n")
    last = [line for line in lines if line.strip()][-1:]
    return f" ({plain_text(last[0].strip())})" if last else ""


def _why_ended(status: int, limits: ReadLimits) -> str:
    if status == -signal.SIGALRM:
        return (
            f"cannot be read within {limits.seconds} s. Next step: check the path, and where it is mounted"
            " (findmnt)"
        )
    if status == -signal.SIGXCPU:
        return (
            f"cannot be read within {limits.processor_seconds} s of the processor. Next step: make a"
            " keystore with a key and iterations of the usual number"
        )
    if status == -signal.SIGKILL:
        return (
            "cannot be read: the process that opens them was killed. Next step: leave 60 MB of memory to it"
            " (limits of the container or unit)"
        )
    return (
        f"cannot be read: the process that opens them, with {limits.memory_bytes:,} bytes of memory, has"
        f" ended with status {status}. Next step: check that they are the right files"
    )
