"""`kraftctl debug-bundle FILE`: one archive with what a question about a controller needs; no secrets."""

from __future__ import annotations

import argparse
import importlib.metadata
import io
import json
import os
import platform
import ssl
import stat
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.serialization import Encoding

import kraftctl
from kraftctl.cli.doctor.checks import diagnoses
from kraftctl.cli.doctor.result_forms import json_of as results_json
from kraftctl.cli.doctor.subject import Subject, read_subject
from kraftctl.cli.health.collection import Collected, OperatePages, read_pages
from kraftctl.cli.health.forms import json_of as health_json
from kraftctl.cli.health.verdict import health_of
from kraftctl.cli.hidden_values import HiddenValues, shown_properties
from kraftctl.cli.quorum.describe import replication_text, status_text
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.operate_config import HTTPS, TOKEN_BYTES_MAX
from kraftctl.node import controller_node
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.file_errors import file_error, unplaced_error
from kraftctl_protocol.java_properties import format_properties
from kraftctl_protocol.secrets import REDACTED
from kraftctl_security.small_files import read_small_file
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.stores import load_keystore

NAME = "debug-bundle"
PRINTS_ONLY = False

LOG_BYTES_MAX: Final = 4 * 1024 * 1024
"""The end of a log of some hours."""

PROBLEM_PART: Final = "operate-problem.txt"
"""Why status.json or metrics.txt is missing."""

FILES_PROBLEM_PART: Final = "files-problem.txt"
"""Which directories files.txt lacks, and why."""

LOST_AND_FOUND: Final = "lost+found"
"""Root's own directory, where a file system begins: nothing of a controller is in it."""

ENTRIES_MAX: Final = 10_000
PAGE_SECONDS: Final = 5.0

LIBRARIES: Final = ("crc32c", "cryptography", "google-re2", "librt", "mypy-extensions", "pyjwt", "uvloop")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the controller's properties file")
    parser.add_argument(
        "--to",
        type=Path,
        default=Path("kraftctl-debug-bundle.tar.gz"),
        metavar="FILE",
        help="default: %(default)s",
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="the log of the controller, for its end")
    parser.add_argument("--offline", action="store_true", help="ask no controller")
    parser.set_defaults(override=[])


def run(args: argparse.Namespace) -> int:
    """Returns 0 if the archive is complete, else 1; one that exists is not replaced."""
    clock = Clock()
    try:
        subject = read_subject(args.file, [], clock, is_offline=args.offline)
        log = None if args.log is None else _end_of(args.log)
        parts = dict(_parts(subject, log))
        problems = [parts[name] for name in (PROBLEM_PART, FILES_PROBLEM_PART) if name in parts]
        _write(args.to, parts, clock.wall_ms() // 1000, BundleSecrets(subject))
    except StorageError as error:
        print(f"kraftctl {NAME}: {error}", file=sys.stderr)
        return 1
    except FileExistsError:
        print(f"kraftctl {NAME}: {args.to} exists. Next step: name another file with --to", file=sys.stderr)
        return 1
    except OSError as unplaced:
        print(f"kraftctl {NAME}: {unplaced_error(unplaced)}", file=sys.stderr)
        return 1
    print(f"{args.to} has {', '.join(sorted(parts))}. Addresses, ids and names of users are in it")
    for problem in problems:
        print(f"kraftctl {NAME}: it is not complete: {escaped(problem)}", file=sys.stderr)
    return 1 if problems else 0


def _parts(subject: Subject, log: str | None) -> Iterator[tuple[str, str]]:
    """Yields name and text of each part."""
    yield "versions.json", json.dumps(_versions(), indent=2)
    yield "controller.properties", format_properties(shown_properties(subject.properties), [])
    yield "doctor.json", results_json(subject, diagnoses(subject, with_upgrade=False, with_flushes=False))
    yield "quorum.txt", _quorum(subject)
    pages = [] if subject.is_offline else _own_pages(subject)
    collected = Collected(subject.answers, pages)
    if subject.answers:
        yield "health.json", health_json(health_of(collected))
    for page in pages:
        if page.status is not None:
            yield "status.json", json.dumps(page.status, indent=2)
            yield "metrics.txt", page.metrics
        if page.problem is not None:
            yield PROBLEM_PART, f"{page.url}: {page.problem}"
    unread: list[OSError] = []
    yield "files.txt", "\n".join(_files(subject, unread))
    if unread:
        yield FILES_PROBLEM_PART, "\n".join(file_error("list", each.filename, each) for each in unread)
    if log is not None:
        yield "log.txt", log


def _versions() -> dict[str, object]:
    libraries = {}
    for name in LIBRARIES:
        try:
            libraries[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            libraries[name] = "none"
    return {
        "kraftctl": kraftctl.__version__,
        "is_compiled": (controller_node.__file__ or "").endswith(".so"),
        "python": sys.version,
        "openssl": ssl.OPENSSL_VERSION,
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "libraries": libraries,
    }


def _quorum(subject: Subject) -> str:
    quorum = Collected(subject.answers).quorum()
    if quorum is None:
        return "no leader has described the quorum"
    ids = [each.cluster_id for each in subject.answers.values() if each.cluster_id is not None]
    try:
        status = status_text(ids[0] if ids else "", quorum)
        return f"{status}\n\n{replication_text(quorum, 0, human_readable=False)}"
    except AdminError as error:
        return str(error)


def _own_pages(subject: Subject) -> list[OperatePages]:
    """Reads the pages of this controller, if it serves them."""
    if subject.config is None or not subject.config.operate.endpoints:
        return []
    endpoint = subject.config.operate.endpoints[0]
    host = endpoint.host if endpoint.host not in (None, "0.0.0.0", "::") else "127.0.0.1"
    where = f"[{host}]" if ":" in str(host) else host
    url = f"{endpoint.listener}://{where}:{endpoint.port}"
    context = None
    if endpoint.listener == HTTPS:
        try:
            context = _own_certificate(subject.config)
        except StoreError as error:
            return [OperatePages(url, problem=str(error))]
    return [read_pages(url, token=_token(subject) or None, context=context, timeout_s=PAGE_SECONDS)]


def _own_certificate(config: ControllerConfig) -> ssl.SSLContext:
    """Returns a context that trusts only the certificate which this listener shows. Raises StoreError.

    It need not name the address here, and only the owner of its key can show it.
    """
    keystore = config.ssl[config.operate.ssl_listener].keystore
    assert keystore is not None, "a listener with SSL requires it"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=load_keystore(keystore).chain[0].public_bytes(Encoding.DER))
    return context


def _token(subject: Subject) -> str:
    if subject.config is None or not subject.config.operate.token_path:
        return ""
    try:
        content = read_small_file(subject.config.operate.token_path, TOKEN_BYTES_MAX)
    except OSError:
        return ""
    return content.decode(errors="replace").strip()


def _files(subject: Subject, unread: list[OSError]) -> Iterator[str]:
    """Yields mode, owner, size, time and path of what is in the directories; `unread` gets their errors."""
    if subject.config is None:
        return

    def leave_out(error: OSError) -> None:
        if os.path.basename(error.filename) != LOST_AND_FOUND:
            unread.append(error)

    count = 0
    for log_dir in dict.fromkeys([subject.config.metadata_log_dir, *subject.config.log_dirs]):
        for directory, names, files in os.walk(log_dir, onerror=leave_out):
            for name in sorted([*names, *files]):
                count += 1
                if count > ENTRIES_MAX:
                    yield f"and more than {ENTRIES_MAX} entries"
                    return
                yield _file_line(os.path.join(directory, name))


def _file_line(path: str) -> str:
    try:
        status = os.lstat(path)
    except OSError as error:
        return file_error("look at", path, error)
    size, mode = status.st_size, stat.filemode(status.st_mode)
    return f"{mode} {status.st_uid}:{status.st_gid} {size:>12} {int(status.st_mtime)} {path}"


def _end_of(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_BYTES_MAX))
        return file.read(LOG_BYTES_MAX).decode(errors="replace")


class BundleSecrets:
    """Removes the secrets of the properties file, and the token of probes."""

    def __init__(self, subject: Subject) -> None:
        self._values = HiddenValues(subject.properties)
        self._token = _token(subject)

    def hide(self, text: str) -> str:
        """Returns the text without them."""
        text = self._values.hide(text)
        return text.replace(self._token, REDACTED) if self._token else text


def _write(path: Path, parts: dict[str, str], wall_seconds: int, hidden: BundleSecrets) -> None:
    """Writes a new archive, which only this account can read. Raises OSError; then there is none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            for name, text in parts.items():
                content = hidden.hide(text).encode(errors="backslashreplace")
                entry = tarfile.TarInfo(f"kraftctl-debug/{name}")
                entry.size, entry.mtime, entry.mode = len(content), wall_seconds, 0o600
                archive.addfile(entry, io.BytesIO(content))
    except BaseException:
        path.unlink()
        raise
