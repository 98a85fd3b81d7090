"""Keys and certificates that change while a listener serves: what is used from then on, and what is not."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import threading
from pathlib import Path

import pytest

from kraftctl.server.process.clock import Clock
from kraftctl.server.security.ssl_reloading import SslReloading
from kraftctl_security.tls import store_files
from kraftctl_security.tls.contexts import load_stores
from tests.server.security.reloaded_ssl import (
    NO_TEXTS,
    PREFIX,
    REQUIRED,
    Reloaded,
    reloading,
    renewed,
    serial_of,
    swap,
)
from tests.server.security.ssl_serving import (
    BROKER,
    authority,
    connect_ssl,
    context_of,
    identity,
    serving_ssl,
    write_stores,
)
from tests.server.serving import both_loops, expect_served
from tests.support.certificates import DAY, Authority
from tests.support.jks import jks


@both_loops
async def test_new_connections_get_the_new_certificate_and_old_ones_stay(tmp_path: Path) -> None:
    async with reloading(tmp_path) as running:
        before = await connect_ssl(running.server, context_of(identity(BROKER)))
        assert await running.serial() == serial_of(identity())
        assert running.driver.contexts == [], "nothing has changed"
        new = renewed()
        swap(running.keystore, new.pem())
        await running.settle()
        assert await running.serial() == serial_of(new)
        await expect_served(before)
        assert len(running.driver.contexts) == 1, "other controllers are shown it, too"
        assert running.server.security.ssl_metrics.reloads_count == 1
        await running.settle()
        assert len(running.driver.contexts) == 1
        before.close()


async def test_the_same_contents_in_a_new_file_change_nothing(tmp_path: Path) -> None:
    async with reloading(tmp_path) as running:
        context = running.server.security.ssl_listeners["CONTROLLER"].context
        swap(running.keystore, running.keystore.read_text())
        await running.settle()
        assert running.server.security.ssl_listeners["CONTROLLER"].context is context


async def test_a_file_that_is_being_written_is_not_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with reloading(tmp_path) as running:
        new = renewed()
        for length in (100, 500, 700):
            running.keystore.write_text(new.pem()[:length])
            await running.reloading.look()
        running.keystore.write_text(new.pem())
        await running.settle()
        assert await running.serial() == serial_of(new)
    assert "cannot be used" not in caplog.text


async def test_links_that_are_swapped_together_as_kubernetes_does(tmp_path: Path) -> None:
    """`keystore.pem` leads to `..data/keystore.pem`, and `..data` to a directory of this version."""

    async def scenario() -> None:
        for version, own in (("1", identity()), ("2", new)):
            (tmp_path / version).mkdir()
            (tmp_path / version / "keystore.pem").write_text(own.pem())
            (tmp_path / version / "truststore.pem").write_text(authority().pem)
        (tmp_path / "..data").symlink_to("1")
        properties: dict[str, str] = {}
        for store in ("keystore", "truststore"):
            (tmp_path / f"{store}.pem").symlink_to(f"..data/{store}.pem")
            properties[f"ssl.{store}.location"] = str(tmp_path / f"{store}.pem")
        async with reloading(tmp_path / "unused", properties) as running:
            assert await running.serial() == serial_of(identity())
            (tmp_path / "..next").symlink_to("2")
            os.replace(tmp_path / "..next", tmp_path / "..data")
            await running.settle()
            assert await running.serial() == serial_of(new)

    new = renewed()
    await scenario()


OTHER = Authority("CN=Other")
DAMAGED = {
    "empty": ("", "has 0 blocks 'BEGIN PRIVATE KEY'"),
    "of-another-key": (renewed().key_pem() + renewed().certificates_pem, "is not that of the private key"),
    "expired": (
        authority().issue("CN=controller", ("127.0.0.1",), expired=True).pem(),
        "the certificate 'CN=controller' has expired at 20",
    ),
    "of-another-subject": (identity("CN=other").pem(), "its certificate is for 'CN=other'"),
    "without-a-name": (
        authority().issue("CN=controller", ()).pem(),
        "lacks alternative names of that in use: IPAddress 127.0.0.1",
    ),
    "of-an-unknown-authority": (
        OTHER.issue("CN=controller", ("127.0.0.1",)).pem(),
        "two controllers with the new stores cannot connect: the client does not accept the server",
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
async def test_a_keystore_that_cannot_be_used_changes_nothing(
    case: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text, reason = DAMAGED[case]
    async with reloading(tmp_path) as running:
        swap(running.keystore, text)
        for _ in range(3):
            await running.settle()
        assert await running.serial() == serial_of(identity())
        metrics = running.server.security.ssl_metrics
        assert (metrics.failed_reloads_count, metrics.failing_listeners) == (1, {"CONTROLLER"})
        new = renewed()
        swap(running.keystore, new.pem())
        await running.settle()
        assert await running.serial() == serial_of(new)
        assert metrics.failing_listeners == set()
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert line.startswith("Listener CONTROLLER keeps its keys and certificates")
    assert reason in line


async def test_a_keystore_that_is_gone_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with reloading(tmp_path) as running:
        running.keystore.unlink()
        await running.settle()
        assert await running.serial() == serial_of(identity())
    assert f"cannot read the keystore {tmp_path / 'keystore.pem'}: No such file or directory" in caplog.text


async def test_names_may_change_where_that_is_allowed(tmp_path: Path) -> None:
    allowed = {"ssl.allow.dn.changes": "true", "ssl.allow.san.changes": "true"}
    async with reloading(tmp_path, allowed) as running:
        new = authority().issue("CN=renamed", ("127.0.0.1", "b.example"))
        swap(running.keystore, new.pem())
        await running.settle()
        assert await running.serial() == serial_of(new)


async def test_a_reload_on_request_waits_for_no_second_look(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with reloading(tmp_path) as running:
            requested = asyncio.Event()
            task = asyncio.ensure_future(running.reloading.run(requested))
            new = renewed()
            swap(running.keystore, new.pem())
            requested.set()
            while not running.driver.contexts:
                await asyncio.sleep(0.001)
            assert await running.serial() == serial_of(new)
            requested.set()
            while "keys and certificates are the same" not in caplog.text:
                await asyncio.sleep(0.001)
            task.cancel()

    caplog.set_level("INFO")
    await scenario()


async def test_who_is_trusted_changes_at_once_for_sessions_of_tls_1_2_too(tmp_path: Path) -> None:
    """A session holds the certificate that was accepted then: none is resumed."""
    async with reloading(tmp_path, {"ssl.allow.dn.changes": "true"}) as running:
        both = authority().pem + OTHER.pem
        swap(running.truststore, both)
        await running.settle()
        context = context_of(OTHER.issue(BROKER), ssl__enabled__protocols="TLSv1.2")
        port = running.server.bound_ports["CONTROLLER"]
        session, was_reused = await asyncio.to_thread(blocking_handshake, context, port, None)
        session, was_reused = await asyncio.to_thread(blocking_handshake, context, port, session)
        assert not was_reused
        swap(running.truststore, authority().pem)
        await running.settle()
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await asyncio.to_thread(blocking_handshake, context, port, session)
        assert await running.serial() == serial_of(identity())


def blocking_handshake(
    context: ssl.SSLContext, port: int, session: ssl.SSLSession | None
) -> tuple[ssl.SSLSession | None, bool | None]:
    """The session of a new connection, and whether that of the argument was resumed."""
    with (
        socket.create_connection(("127.0.0.1", port), 10.0) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as wrapped,
    ):
        found = wrapped.session, wrapped.session_reused
        wrapped.unwrap()  # otherwise OpenSSL forgets the session
        return found


# Expiry.


async def test_what_expires_is_announced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with reloading(tmp_path) as running:
            metrics = running.server.security.ssl_metrics
            left_ms = metrics.certificate_expires_at_ms["CONTROLLER"] - Clock().wall_ms()
            assert 23 * 3_600_000 < left_ms < 24 * 3_600_000
            new = authority().issue("CN=controller", ("127.0.0.1",), valid=20 * DAY)
            swap(running.keystore, new.pem())
            await running.settle()
            await running.settle()

    caplog.set_level("INFO")
    await scenario()
    lines = [record.getMessage() for record in caplog.records if "expires in" in record.getMessage()]
    step = "Next step: replace it there; no restart is needed."
    trusted = f"the trusted certificate 'CN=Test CA,O=kraftctl' in {tmp_path}/truststore.pem"
    own = f"the certificate 'CN=controller' in {tmp_path}/keystore.pem"
    found = [re.sub(r"at 20[^ ]+", "at T", line).removeprefix("Listener CONTROLLER: ") for line in lines]
    assert found[0] == "its certificate expires in 23 hours, the first that it trusts expires in 23 hours"
    assert set(found[1:3]) == {
        f"{trusted} expires in 23 hours, at T {step}",
        f"{own} expires in 23 hours, at T {step}",
    }
    assert found[3:] == [
        "its certificate expires in 19 days, the first that it trusts expires in 23 hours",
        f"{own} expires in 19 days, at T {step}",
    ]


# Dynamic configs.


async def test_stores_of_dynamic_configs(tmp_path: Path) -> None:
    async with reloading(tmp_path) as running:
        new, newer = renewed(), renewed()
        (tmp_path / "dynamic.pem").write_text(new.pem())
        location = {f"{PREFIX}ssl.keystore.location": str(tmp_path / "dynamic.pem")}
        running.driver.dynamic = {**location, "log.retention.ms": "1", "ssl.keystore.location": "/no"}
        await running.reloading.look()
        assert await running.serial() == serial_of(new)
        swap(tmp_path / "dynamic.pem", newer.pem())
        await running.settle()
        assert await running.serial() == serial_of(newer)
        running.driver.dynamic = {}
        await running.reloading.look()
        assert await running.serial() == serial_of(identity())


async def test_dynamic_configs_do_not_change_whom_a_controller_trusts(tmp_path: Path) -> None:
    """The right to alter configs would otherwise be the right to connect as anybody."""
    async with reloading(tmp_path) as running:
        (tmp_path / "other.pem").write_text(OTHER.pem + authority().pem)
        new = renewed()
        (tmp_path / "dynamic.pem").write_text(new.pem())
        for value in (
            {"ssl.truststore.location": str(tmp_path / "other.pem")},
            {"ssl.truststore.location": "", "ssl.truststore.certificates": OTHER.pem},
            {"ssl.truststore.type": "JKS", "ssl.truststore.password": "x"},
        ):
            keystore = {"ssl.keystore.location": str(tmp_path / "dynamic.pem")}
            running.driver.dynamic = {PREFIX + key: each for key, each in (value | keystore).items()}
            await running.settle()
            assert await running.serial() == serial_of(new), "its own key may change"
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await running.serial(context_of(OTHER.issue(BROKER)))
        swap(running.truststore, OTHER.pem + authority().pem)
        await running.settle()
        await running.serial(context_of(OTHER.issue(BROKER)))


async def test_a_keystore_of_the_type_jks_is_read_again(tmp_path: Path) -> None:
    async with reloading(tmp_path) as running:
        new, newer, path = renewed(), renewed(), tmp_path / "store.jks"
        path.write_bytes(jks("store", keys=[("k", new, "inner")]))
        running.driver.dynamic = {
            f"{PREFIX}ssl.keystore.location": str(path),
            f"{PREFIX}ssl.keystore.type": "JKS",
            f"{PREFIX}ssl.keystore.password": "store",
            f"{PREFIX}ssl.key.password": "inner",
        }
        await running.reloading.look()
        assert await running.serial() == serial_of(new)
        fresh = tmp_path / "fresh"
        fresh.write_bytes(jks("store", keys=[("k", newer, "inner")]))
        fresh.rename(path)
        await running.settle()
        assert await running.serial() == serial_of(newer)
        path.write_bytes(path.read_bytes()[:-1])
        await running.settle()
        assert await running.serial() == serial_of(newer)


async def test_dynamic_configs_that_cannot_be_used_change_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with reloading(tmp_path, {"kraftctl.dynamic.trust": "true"}) as running:
        for name, value in {
            "ssl.keystore.type": "BKS",
            "ssl.keystore.location": str(tmp_path / "nowhere.pem"),
            "ssl.keystore.key": "hunter2",
            "ssl.truststore.password": "${env:HOME}",
            "ssl.truststore.location": "${file:/etc/x:location}",
        }.items():
            running.driver.dynamic = {PREFIX + name: value}
            await running.settle()
            assert await running.serial() == serial_of(identity())
        assert running.server.security.ssl_metrics.failed_reloads_count == 5
        new = renewed()
        swap(tmp_path / "nowhere.pem", new.pem())
        running.driver.dynamic = {f"{PREFIX}ssl.keystore.location": str(tmp_path / "nowhere.pem")}
        await running.reloading.look()
        assert await running.serial() == serial_of(new)
    assert "Invalid value BKS for configuration listener.name.controller.ssl.keystore.type" in caplog.text
    assert "listener.name.controller.ssl.truststore.password: it has ${env:...}" in caplog.text
    assert "listener.name.controller.ssl.truststore.location: it has ${file:...}" in caplog.text
    assert "hunter2" not in caplog.text


async def test_the_first_dynamic_configs_after_a_start_are_not_compared(tmp_path: Path) -> None:
    """They were when they were altered: since then each authority may have been replaced."""
    found = write_stores(tmp_path, identity())
    trust = {"kraftctl.dynamic.trust": "true"}
    async with serving_ssl({**NO_TEXTS, **found, **REQUIRED, **trust}) as (server, handler):
        running = Reloaded(server, handler, tmp_path)
        running.driver.dynamic = None
        await running.settle()
        own = OTHER.issue("CN=dynamic", ("127.0.0.1",))
        (tmp_path / "dynamic.pem").write_text(own.pem())
        (tmp_path / "trusted.pem").write_text(OTHER.pem)
        running.driver.dynamic = {
            f"{PREFIX}ssl.keystore.location": str(tmp_path / "dynamic.pem"),
            f"{PREFIX}ssl.truststore.location": str(tmp_path / "trusted.pem"),
        }
        await running.reloading.look()
        client = context_of(OTHER.issue(BROKER), trusted=OTHER)
        assert await running.serial(client) == serial_of(own)
        running.driver.dynamic = {}
        await running.reloading.look()
        assert await running.serial(client) == serial_of(own), "compared from then on"


async def test_a_keystore_that_controllers_do_not_accept_is_not_used_at_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """When it was altered it was refused, and is in the log nevertheless."""
    found = write_stores(tmp_path, identity())
    async with serving_ssl({**NO_TEXTS, **found, **REQUIRED}) as (server, handler):
        running = Reloaded(server, handler, tmp_path)
        (tmp_path / "dynamic.pem").write_text(OTHER.issue("CN=controller", ("127.0.0.1",)).pem())
        running.driver.dynamic = {f"{PREFIX}ssl.keystore.location": str(tmp_path / "dynamic.pem")}
        await running.reloading.look()
        assert await running.serial() == serial_of(identity())
    assert "two controllers with the new stores cannot connect" in caplog.text


@both_loops
async def test_a_file_system_that_does_not_answer_delays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Connections are served, a line says so, and the process ends without a response."""
    asked, answered = threading.Event(), threading.Event()
    stat = os.stat

    def hanging(path: str) -> os.stat_result:
        if str(path).endswith("keystore.pem"):
            asked.set()
            assert answered.wait(60.0)
        return stat(path)

    async with reloading(tmp_path) as running:
        monkeypatch.setattr(store_files.os, "stat", hanging)
        late = SslReloading(running.server.security, running.driver, Clock().wall_ms, 0.0, load_stores)
        looking = asyncio.ensure_future(late.look())
        await asyncio.to_thread(asked.wait, 20.0)
        assert await running.serial() == serial_of(identity())
        assert "Listener CONTROLLER keeps its keys and certificates: its keystore" in caplog.text
        assert "Next step: check where they are mounted" in caplog.text
        looking.cancel()
    answered.set()


async def test_a_fifo_in_place_of_a_keystore_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with reloading(tmp_path) as running:
        running.keystore.unlink()
        os.mkfifo(running.keystore)
        await running.settle()
        assert await running.serial() == serial_of(identity())
        assert "it is a FIFO, and has to be a file" in caplog.text
