"""Nothing on the loop waits for a descriptor that is not ours: each call that can wait, and where it is made.

Name servers, mounted files, FIFOs and outputs belong to others. Our own sockets are served by the loop, and
our own directory by the threads of storage (test_stalling_disk.py).
"""

from __future__ import annotations

import ast
import asyncio
import os
import pty
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import uvloop

from kraftctl.config.audit_config import AuditConfig
from kraftctl.server.logs.log_files import LogFiles
from kraftctl.server.process import name_lookup
from kraftctl.server.process.clock import Clock
from kraftctl.server.process.detached_calls import SharedCalls, call_detached
from kraftctl.server.process.name_lookup import addresses_of, own_name
from kraftctl.server.security.local_users import read_users_file
from kraftctl.storage.errors import StorageError
from kraftctl.storage.properties_file import read_properties
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_security import small_files
from kraftctl_security.config_values import ConfigException, ConfigValues
from kraftctl_security.issuer.assertions import UnusableAssertionError
from kraftctl_security.issuer.assertions import _read as read_assertion
from kraftctl_security.jvm_options import KAFKA_OPTS
from kraftctl_security.sasl.jaas_file import read_jaas_file
from kraftctl_security.small_files import read_once, read_small_file
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.stores import _read as read_store

ROOT = Path(__file__).parents[3]

START = "before the loop serves"
END = "after the loop has served"
DETACHED = "on a thread that nothing waits for"
OUTPUT = "on the thread of that output"
ISSUER = "on the thread of that issuer"
PROCESS = "in a process that a thread waits for, which has a time-out"
COMMAND = "in commands, which have no loop"
NEVER = "it does not wait: a device or socket of the kernel, or a task"

WAITS = {
    "kraftctl/cli/loop_stack.py": {"self._thread.join": END},
    "kraftctl/cli/refused_start.py": {"print": END, "sys.stderr": END, "sys.stdout": END},
    "kraftctl/cli/start.py": {
        "random.SystemRandom": START,
        "read_jaas_file": START,
    },
    "kraftctl/server/listeners/acceptor.py": {"os.open": NEVER},
    "kraftctl/server/logs/background_file.py": {"self._file.open": START, "self._thread.join": END},
    "kraftctl/server/process/clock.py": {"time.sleep": "on the thread that decodes requests"},
    "kraftctl/server/peers/connecting.py": {"self._loop.create_connection": NEVER},
    "kraftctl/server/peers/peer_ssl.py": {"connect": NEVER},
    "kraftctl/server/controller_server.py": {"MetadataPartition.open": START, "random.SystemRandom": START},
    "kraftctl/server/listeners/listener.py": {"asyncio.sleep": NEVER},
    "kraftctl/server/security/local_users.py": {"path.stat": START, "read_small_file": START},
    "kraftctl/server/logs/logging.py": {"sys.stderr": START, "sys.stdout": START},
    "kraftctl/server/process/name_lookup.py": {
        "call_detached": DETACHED,
        "socket.getaddrinfo": DETACHED,
        "socket.getfqdn": DETACHED,
    },
    "kraftctl/server/peers/peers.py": {"asyncio.sleep": NEVER, "call_detached": DETACHED},
    "kraftctl/server/logs/printed_lines.py": {"sys.stderr": NEVER},
    "kraftctl/server/logs/rotated_file.py": {"os.open": OUTPUT, "self.open": OUTPUT, "write_whole": OUTPUT},
    "kraftctl/server/security/sasl_servers.py": {"secrets.token_urlsafe": NEVER},
    "kraftctl/server/security/unknown_users.py": {"read_small_file": START, "secrets.token_bytes": START},
    "kraftctl/server/logs/shared_output.py": {"os.open": START, "write_whole": OUTPUT},
    "kraftctl/server/security/ssl_reloading.py": {"call_detached": DETACHED},
    "kraftctl/server/security/store_reader.py": {"subprocess.Popen": DETACHED},
    "kraftctl/server/process/storage_threads.py": {"asyncio.sleep": NEVER, "self._loop.run_in_executor": END},
    "kraftctl/server/process/worker_thread.py": {"self._worker.join": END},
    "protocol/kraftctl_security/addresses/host_lookup.py": {"socket.getaddrinfo": DETACHED},
    "protocol/kraftctl_security/blocking_attempt.py": {"plain.connect": COMMAND},
    "protocol/kraftctl_security/client_config.py": {"read_jaas_file": COMMAND},
    "protocol/kraftctl_security/config_providers/provider_files.py": {"read_small_file": START},
    "protocol/kraftctl_security/config_providers/providers.py": {"read_text": START},
    "protocol/kraftctl_security/issuer/assertions.py": {"read_small_file": ISSUER},
    "protocol/kraftctl_security/issuer/https_exchange.py": {"connection.connect": ISSUER},
    "protocol/kraftctl_security/issuer/jwks_endpoint.py": {"os.stat": ISSUER, "read_small_file": ISSUER},
    "protocol/kraftctl_security/issuer/token_endpoint.py": {"read_small_file": ISSUER},
    "protocol/kraftctl_security/sasl/jaas_file.py": {"read_once": START},
    "protocol/kraftctl_security/sasl/plain.py": {"secrets.token_bytes": NEVER},
    "protocol/kraftctl_security/sasl/sasl_client_factory.py": {"secrets.token_urlsafe": NEVER},
    "protocol/kraftctl_security/small_files.py": {"os.open": NEVER},
    "protocol/kraftctl_security/standard_output.py": {
        "print": COMMAND,
        "sys.stderr": COMMAND,
        "sys.stdout": COMMAND,
        "write_whole": COMMAND,
    },
    "protocol/kraftctl_security/tls/contexts.py": {
        "context.load_cert_chain": DETACHED,
        "context.load_default_certs": DETACHED,
        "context.load_verify_locations": DETACHED,
    },
    "protocol/kraftctl_security/tls/shown_certificate.py": {"socket.create_connection": DETACHED},
    "protocol/kraftctl_security/tls/store_files.py": {"os.stat": DETACHED},
    "protocol/kraftctl_security/tls/store_process.py": {"sys.stdin": PROCESS, "sys.stdout": PROCESS},
    "protocol/kraftctl_security/tls/stores.py": {"read_small_file": DETACHED},
}
"""File -> call -> where it is made. What is read again while a controller runs is DETACHED; stores are read
at the start, too."""

CALLS = frozenset(
    (
        *(
            "open",
            "open_connection",
            "fdopen",
            "stat",
            "read_text",
            "read_bytes",
            "read_small_file",
            "read_once",
        ),
        *(
            "read_properties",
            "read_jaas_file",
            "write_whole",
            "print",
            "input",
            "Popen",
            "system",
            "sleep",
            "join",
        ),
        *(
            "getaddrinfo",
            "getfqdn",
            "gethostbyname",
            "gethostbyaddr",
            "getnameinfo",
            "gethostname",
            "getpwuid",
        ),
        *("create_connection", "connect", "to_thread", "run_in_executor", "call_detached"),
        *("urandom", "SystemRandom", "token_bytes", "token_urlsafe"),
        *("load_default_certs", "load_verify_locations", "load_cert_chain"),
    )
)
NAMES = frozenset(("sys.stdout", "sys.stderr", "sys.stdin", "os.urandom", "socket.getfqdn"))

STARTING = ("start", "signals", "loop_stack", "refused_start")


def sources() -> Iterator[Path]:
    yield from sorted((ROOT / "kraftctl" / "server").rglob("*.py"))
    yield from (ROOT / "kraftctl" / "cli" / f"{name}.py" for name in STARTING)
    yield from sorted((ROOT / "protocol" / "kraftctl_security").rglob("*.py"))


def waiting_calls(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            of_text = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant)
            if name in CALLS and not of_text:
                found.add(ast.unparse(function))
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in NAMES:
            found.add(ast.unparse(node))
    return found


def test_each_call_that_may_wait_is_listed() -> None:
    """A new one needs a place where no connection waits for it."""
    found = {path.relative_to(ROOT).as_posix(): calls for path in sources() if (calls := waiting_calls(path))}
    assert found == {path: set(calls) for path, calls in WAITS.items()}


# Names.


class NameServer:
    """Answers nothing for names that begin with "slow", until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.released = threading.Event()
        self._resolve = socket.getaddrinfo
        monkeypatch.setattr(name_lookup.socket, "getaddrinfo", self._answer)

    def _answer(self, host: str, port: int, *, type: int, flags: int) -> list[object]:
        if flags & socket.AI_NUMERICHOST:
            return [*self._resolve(host, port, type=type, flags=flags)]
        self.asked.append(host)
        if host.startswith("slow"):
            assert self.released.wait(60.0)
        return [*self._resolve("127.0.0.1", port, type=type)]


@pytest.mark.parametrize(
    "factory", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)
def test_names_without_an_answer_delay_nothing(
    monkeypatch: pytest.MonkeyPatch, factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """Twenty of them: others are looked up, hashes are computed, and the loop and the process end."""
    server = NameServer(monkeypatch)

    async def life() -> None:
        slow = [asyncio.ensure_future(addresses_of(f"slow-{number}", 1)) for number in range(20)]
        slow += [asyncio.ensure_future(addresses_of("slow-0", 1)) for _ in range(20)]
        found = await addresses_of("quick", 9)
        assert found[0][4] == ("127.0.0.1", 9)
        assert await call_detached(lambda: 7) == 7
        assert await asyncio.to_thread(lambda: 8) == 8
        assert not any(each.done() for each in slow)
        assert sorted(server.asked) == sorted(["quick", *(f"slow-{number}" for number in range(20))])
        for each in slow:
            each.cancel()

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(life())
    server.released.set()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.1.2.3"])
async def test_an_address_is_not_looked_up(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    server = NameServer(monkeypatch)
    assert (await addresses_of(address, 9092))[0][4][:2] == (address, 9092)
    assert server.asked == []


async def test_a_name_without_addresses_is_an_error_of_its_caller() -> None:
    def fail() -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def life() -> None:
        calls = SharedCalls()
        results = await asyncio.gather(*(calls.call("x", fail) for _ in range(3)), return_exceptions=True)
        assert [type(each) for each in results] == [socket.gaierror] * 3
        assert await calls.call("x", lambda: 1) == 1

    await life()


async def test_the_own_name_is_looked_up_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def qualified() -> str:
        threads.append(threading.current_thread())
        return "node.example"

    monkeypatch.setattr(name_lookup.socket, "getfqdn", qualified)
    assert await own_name() == "node.example"
    assert threads[0] is not threading.main_thread()


def test_a_call_without_an_end_does_not_delay_the_end() -> None:
    """A keystore on a file system that does not answer: what waits for it is cancelled, the loop ends."""
    released = threading.Event()

    async def life() -> None:
        waiting = asyncio.ensure_future(call_detached(partial(released.wait, 60.0)))
        await asyncio.sleep(0)
        waiting.cancel()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(life())
    released.set()


# Files that are none.


def fifo(path: Path) -> str:
    os.mkfifo(path)
    return str(path)


def socket_file(path: Path) -> str:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
    return str(path)


def terminal(path: Path) -> str:
    return os.ttyname(pty.openpty()[1])


SPECIAL: dict[str, Callable[[Path], str]] = {
    "a-fifo": fifo,
    "a-socket": socket_file,
    "a-terminal": terminal,
    "no-end": lambda path: "/dev/zero",
    "randomness": lambda path: "/dev/urandom",
    "nothing": lambda path: "/dev/null",
    "a-directory": lambda path: str(path.parent),
    "a-missing-file": str,
}

READERS: dict[str, tuple[Callable[[str], object], type[Exception]]] = {
    "keystore": (lambda path: read_store(path, f"the keystore {path}"), StoreError),
    "users": (lambda path: read_users_file(Path(path)), ConfigException),
    "assertion": (read_assertion, UnusableAssertionError),
    "small-file": (read_small_file, OSError),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_read_again_has_to_be_a_file(tmp_path: Path, reader: str, kind: str) -> None:
    path = SPECIAL[kind](tmp_path / "special")
    call, error = READERS[reader]
    with pytest.raises(error) as refused:
        call(path)
    text = str(refused.value) if not isinstance(refused.value, ConfigException) else str(refused.value.errors)
    assert path in text
    mode = os.stat(path).st_mode if os.path.exists(path) else 0
    if stat.S_ISFIFO(mode):
        assert "it is a FIFO, and has to be a file" in text
    if stat.S_ISCHR(mode):
        assert "it is a device, and has to be a file" in text


ONCE: dict[str, tuple[Callable[[str], object], tuple[type[Exception], ...]]] = {
    "properties": (lambda path: read_properties(Path(path)), (StorageError, PropertiesError)),
    "jaas": (
        lambda path: read_jaas_file({KAFKA_OPTS: f"-Djava.security.auth.login.config={path}"}),
        (ConfigException,),
    ),
}


@pytest.mark.parametrize("reader", ONCE)
@pytest.mark.parametrize("kind", [kind for kind in SPECIAL if kind != "nothing"])
def test_what_is_read_once_does_not_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, kind: str
) -> None:
    monkeypatch.setattr(small_files, "WRITER_SECONDS_MAX", 0.05)
    call, errors = ONCE[reader]
    with pytest.raises(errors):
        call(SPECIAL[kind](tmp_path / "special"))


def test_what_a_shell_makes_of_a_command_is_read() -> None:
    """`kraftctl start <(envsubst < template)`."""
    reader, writer = os.pipe()
    os.write(writer, b"a=1\n")

    def end() -> None:
        os.write(writer, b"b=2\n")
        os.close(writer)

    later = threading.Thread(target=end)
    later.start()
    assert read_properties(Path(f"/dev/fd/{reader}")) == {"a": "1", "b": "2"}
    later.join()
    os.close(reader)


@pytest.mark.parametrize("size", [0, 1, small_files.FILE_BYTES_MAX])
def test_a_file_is_read_to_its_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    assert len(read_once(path)) == len(read_small_file(path)) == size
    path.write_bytes(b"x" * (small_files.FILE_BYTES_MAX + 1))
    with pytest.raises(OSError, match="more than 16,777,216 bytes"):
        read_small_file(path)


def audit(path: str) -> AuditConfig:
    values = ConfigValues({"kraftctl.audit.log.path": path})
    found = AuditConfig(values)
    values.raise_errors()
    return found


def test_an_audit_log_that_is_a_fifo_without_a_reader_is_refused(tmp_path: Path) -> None:
    path = fifo(tmp_path / "fifo")
    with pytest.raises(
        StorageError, match=r"it is a FIFO without a reader\. Next step: start its reader first"
    ):
        with LogFiles(audit(path), "cluster", 7, Clock()):
            pass


@pytest.mark.parametrize("kind", ["a-fifo", "nothing", "a-terminal"])
def test_an_audit_log_may_be_a_device_or_a_fifo_that_is_read(tmp_path: Path, kind: str) -> None:
    """It is not renamed when it has become long, and stays when it is closed."""
    path = SPECIAL[kind](tmp_path / "special")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with LogFiles(audit(path), "cluster", 7, Clock()) as audit_log:
        assert audit_log is not None
        audit_log.file.write(b"a line\n")
    if kind == "a-fifo":
        assert os.read(reader, 100) == b"a line\n"
    os.close(reader)
    assert os.path.exists(path)
