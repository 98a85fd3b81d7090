"""The files of the audit log and of the authorizer's logger, as the configuration names them."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

from kraftctl.config.audit_config import AuditConfig, LogFileConfig
from kraftctl.controller.state.authorizer_log import LEVELS
from kraftctl.server.logs.audit_log import AuditLog
from kraftctl.server.logs.background_file import BackgroundFile
from kraftctl.server.logs.log_handler import BackgroundHandler
from kraftctl.server.logs.logging import AUTHORIZER_LOGGER, KafkaFormatter
from kraftctl.server.logs.rotated_file import RotatedFile
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.file_errors import file_error


class LogFiles:
    """Opens the files, or raises StorageError, and writes waiting lines at its end.

    The value of this context manager is the audit log, None without a file for it.
    """

    def __init__(self, config: AuditConfig, cluster_id: str, node_id: int, clock: Clock) -> None:
        self._config = config
        self._cluster_id = cluster_id
        self._node_id = node_id
        self._clock = clock
        self._files: list[BackgroundFile] = []
        self._handler: BackgroundHandler | None = None

    def __enter__(self) -> AuditLog | None:
        try:
            self._open_authorizer_log()
            return self._open_audit_log()
        except StorageError:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_audit_log(self) -> AuditLog | None:
        config = self._config.file
        if not config.path:
            return None
        audit_log = AuditLog(
            _rotated(config), cluster_id=self._cluster_id, node_id=self._node_id, wall_ms=self._clock.wall_ms
        )
        self._start(config, audit_log.file)
        return audit_log

    def _open_authorizer_log(self) -> None:
        """Opens the file; without one, its lines are among those of the controller."""
        logger = logging.getLogger(AUTHORIZER_LOGGER)
        logger.setLevel(LEVELS[self._config.authorizer_level])
        config = self._config.authorizer_file
        if config.path:
            self._handler = BackgroundHandler(_rotated(config), AUTHORIZER_LOGGER)
            self._handler.setFormatter(KafkaFormatter(self._node_id))
            self._start(config, self._handler.file)
            logger.addHandler(self._handler)
            logger.propagate = False

    def _start(self, config: LogFileConfig, file: BackgroundFile) -> None:
        try:
            file.start()
        except OSError as error:
            text = file_error("open", config.path, error, named_by=config.path_key)
            if error.errno == errno.ENXIO and Path(config.path).is_fifo():
                text = (
                    "the file cannot be opened: it is a FIFO without a reader. Next step: start its"
                    " reader first"
                )
            raise StorageError(f"{config.path_key}={config.path}: {text}") from error
        self._files.append(file)

    def close(self) -> None:
        """Writes the lines that wait."""
        logger = logging.getLogger(AUTHORIZER_LOGGER)
        if self._handler is not None:
            logger.removeHandler(self._handler)
            logger.propagate = True
        for file in self._files:
            file.close()


def _rotated(config: LogFileConfig) -> RotatedFile:
    return RotatedFile(Path(config.path), max_bytes=config.max_bytes, max_files=config.max_files)
