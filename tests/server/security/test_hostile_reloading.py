"""Keystores that dynamic configs name, which a stranger may have written, and file systems that hang."""

from __future__ import annotations

import base64
import os
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
    RunningDriver,
    reloading,
    renewed,
    serial_of,
    swap,
)
from tests.server.security.ssl_serving import identity, serving_ssl, write_stores
from tests.support.hostile_stores import encrypted_key, pbes2, pbkdf2


async def test_what_dynamic_configs_name_is_read_by_a_process_and_never_hurts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is read at its change, at the start after that, when the log has it, and on SIGHUP."""
    slow = tmp_path / "slow.pem"
    slow.write_text(identity().certificates_pem + encrypted_pem(pbes2(pbkdf2(200_000_000))))
    os.mkfifo(tmp_path / "fifo")
    named = {
        "/dev/zero": "the keystore /dev/zero: it is a device, and has to be a file. Next step: ",
        str(tmp_path / "fifo"): "it is a FIFO, and has to be a file. Next step: ",
        str(slow): f"the keystore {slow} is not opened: a key takes 200,000,000 iterations to derive",
    }
    async with reloading(tmp_path) as running:
        server = running.server
        for location in named:
            for _ in range(2):
                started = SslReloading(server.security, running.driver, Clock().wall_ms)
                running.driver.dynamic = {
                    f"{PREFIX}ssl.keystore.location": location,
                    f"{PREFIX}ssl.key.password": "secret",
                }
                await started.look()
                assert await running.serial() == serial_of(identity())
            await started.look(forced=True)
        running.driver.dynamic = {}
        await started.look()
        assert server.security.ssl_metrics.failed_reloads_count == 3 * len(named)
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    for reason in named.values():
        assert sum(reason in line for line in errors) == 3
    assert all(line.startswith("Listener CONTROLLER keeps its keys and certificates") for line in errors)


def encrypted_pem(algorithm: bytes) -> str:
    content = base64.b64encode(encrypted_key(algorithm)).decode()
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{content}\n-----END ENCRYPTED PRIVATE KEY-----\n"


async def test_a_file_system_that_does_not_answer_delays_no_other_listener(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The first listener is not looked at again before it is answered, and one line says so."""
    answered = threading.Event()
    stat = os.stat

    def hanging(path: str) -> os.stat_result:
        if "/first/" in str(path):
            assert answered.wait(60.0)
        return stat(path)

    found = {
        f"listener.name.{name}.{key}": value
        for name in ("controller", "second")
        for key, value in write_stores(
            tmp_path / ("first" if name == "controller" else name), identity()
        ).items()
    }
    listeners = {
        "listeners": "CONTROLLER://127.0.0.1:0,SECOND://127.0.0.1:0",
        "controller.listener.names": "CONTROLLER,SECOND",
        "listener.security.protocol.map": "CONTROLLER:SSL,SECOND:SSL",
    }
    async with serving_ssl({**NO_TEXTS, **listeners, **found}) as (server, _):
        monkeypatch.setattr(store_files.os, "stat", hanging)
        late = SslReloading(server.security, RunningDriver(), Clock().wall_ms, 0.5, load_stores)
        new = renewed()
        swap(tmp_path / "second" / "keystore.pem", new.pem())
        for _ in range(3):
            await late.look()
        assert server.security.ssl_metrics.reloads_count == 1
        answered.set()
        while late._late:
            await late.look()
    assert caplog.text.count("their file system does not answer") == 1
