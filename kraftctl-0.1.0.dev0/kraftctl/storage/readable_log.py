"""Says which files of a metadata log other accounts may read: it has credentials and passwords in clear.

New files and directories are closed to others. Those that Kafka or an earlier release has made are not.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_security.small_files import mode_against_others


def why_readable(log_dir: Path) -> str | None:
    """Returns a warning with the command that helps; None if others cannot enter the directory.

    A directory that cannot be read has no warning: the start says why.
    """
    try:
        status = log_dir.stat()
        found = _readable(log_dir) + _readable(log_dir / PARTITION_DIRECTORY)
    except OSError:
        return None
    if mode_against_others(status) is None or _is_of_a_volume_group(status):
        return None
    mode = "700" if status.st_uid == os.geteuid() else "o-rwx"
    files = "Its files are closed to them"
    if found:
        path, file_mode = found[0]
        files = f"{len(found)} files in it are open, too, such as {path}, which has mode {file_mode:04o}"
    return (
        f"Other accounts may enter {log_dir}, which has mode {stat.S_IMODE(status.st_mode):04o} and the"
        f" passwords of the metadata log. {files}. Next step: chmod {mode} {log_dir}"
    )


def _is_of_a_volume_group(status: os.stat_result) -> bool:
    """Returns whether only a group may enter that new files get, too, as fsGroup of Kubernetes makes it."""
    return bool(status.st_mode & stat.S_ISGID) and not status.st_mode & stat.S_IRWXO


def _readable(directory: Path) -> list[tuple[str, int]]:
    """Returns path and mode of each file that is open to others."""
    if not directory.is_dir():
        return []
    with os.scandir(directory) as entries:
        files = sorted([(each.path, each.stat()) for each in entries if each.is_file()])
    return [(path, stat.S_IMODE(status.st_mode)) for path, status in files if mode_against_others(status)]
