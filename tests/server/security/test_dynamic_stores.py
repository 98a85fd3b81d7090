"""Stores that dynamic configs name: what a listener uses of them, what not, and that its line says both.

Without `kraftctl.dynamic.trust`, the default, the truststore of the properties file stays in use.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509

from kraftctl.controller.configuration_control.node_configs import node_configs
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.process.clock import Clock
from kraftctl.server.security.ssl_reloading import SslReloading
from kraftctl_security.tls.contexts import load_stores
from tests.server.security.reloaded_ssl import NO_TEXTS, REQUIRED, RunningDriver, renewed, serial_of
from tests.server.security.ssl_serving import (
    BROKER,
    authority,
    connect_ssl,
    context_of,
    identity,
    serving_ssl,
    stores,
    write_stores,
)
from tests.server.serving import expect_served
from tests.support.certificates import Authority, Identity
from tests.support.jks import jks

OTHER = Authority("CN=other authority")
NEW = renewed()
FOREIGN = OTHER.issue("CN=controller", ("127.0.0.1",))

LISTENERS = {
    "listeners": "CONTROLLER://127.0.0.1:0,SECOND://127.0.0.1:0",
    "controller.listener.names": "CONTROLLER,SECOND",
    "listener.security.protocol.map": "CONTROLLER:SSL,SECOND:SSL",
}

Dynamic = Callable[[Path], dict[str, str]]


def keystore(own: Identity) -> Dynamic:
    def write(directory: Path) -> dict[str, str]:
        (directory / "dynamic.pem").write_text(own.pem())
        return {"ssl.keystore.location": str(directory / "dynamic.pem")}

    return write


def of_another_type(kind: str, own: Identity) -> Dynamic:
    def write(directory: Path) -> dict[str, str]:
        store = own.pkcs12("store") if kind == "PKCS12" else jks("store", keys=[("k", own, "store")])
        (directory / "store").write_bytes(store)
        return {
            "ssl.keystore.location": str(directory / "store"),
            "ssl.keystore.type": kind,
            "ssl.keystore.password": "store",
        }

    return write


def truststore(directory: Path) -> dict[str, str]:
    (directory / "dynamic-trust.pem").write_text(OTHER.pem)
    return {"ssl.truststore.location": str(directory / "dynamic-trust.pem")}


def other_type_of_truststore(directory: Path) -> dict[str, str]:
    (directory / "trust.p12").write_bytes(OTHER.pkcs12("store"))
    location = str(directory / "trust.p12")
    return {
        "ssl.truststore.location": location,
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.password": "store",
    }


def inline(own: Identity) -> Dynamic:
    return lambda _: {key: value for key, value in stores(own, None).items() if not key.endswith("type")}


def inline_truststore(_: Path) -> dict[str, str]:
    return {"ssl.truststore.location": "", "ssl.truststore.certificates": OTHER.pem}


def without(key: str, dynamic: Dynamic) -> Dynamic:
    return lambda directory: {**dynamic(directory), key: ""}


def damaged(directory: Path) -> dict[str, str]:
    (directory / "damaged.pem").write_text(NEW.pem()[:-200])
    return {"ssl.keystore.location": str(directory / "damaged.pem")}


def nothing(_: Path) -> dict[str, str]:
    return {}


APPLIED = "INFO Listener {} shows new connections the certificate 'CN=controller' with serial number"
KEPT = "ERROR Listener {} keeps its keys and certificates, as the new ones cannot be used: "
NOT_USED = (
    "; it uses the truststore of the properties file, and not the dynamic {}, as kraftctl.dynamic.trust is"
)
NO_HANDSHAKE = "two controllers with the new stores cannot connect"

CASES = [
    # keystore, truststore, what is shown if it changes, listener, line
    pytest.param(keystore(NEW), nothing, NEW, "CONTROLLER", APPLIED, id="keystore"),
    pytest.param(keystore(FOREIGN), nothing, None, "CONTROLLER", KEPT + NO_HANDSHAKE, id="foreign-keystore"),
    pytest.param(keystore(NEW), truststore, NEW, "CONTROLLER", APPLIED, id="both"),
    pytest.param(keystore(FOREIGN), truststore, None, "CONTROLLER", KEPT + NO_HANDSHAKE, id="both-foreign"),
    pytest.param(nothing, truststore, None, "CONTROLLER", "", id="truststore"),
    pytest.param(nothing, other_type_of_truststore, None, "CONTROLLER", "", id="truststore-of-another-type"),
    pytest.param(nothing, inline_truststore, None, "CONTROLLER", "", id="inline-truststore"),
    pytest.param(of_another_type("PKCS12", NEW), nothing, NEW, "CONTROLLER", APPLIED, id="pkcs12"),
    pytest.param(of_another_type("JKS", NEW), nothing, NEW, "CONTROLLER", APPLIED, id="jks"),
    pytest.param(
        of_another_type("PKCS12", NEW), other_type_of_truststore, NEW, "CONTROLLER", APPLIED, id="other-types"
    ),
    pytest.param(
        inline(NEW), nothing, None, "CONTROLLER", KEPT + "Invalid value", id="inline-beside-the-location"
    ),
    pytest.param(
        without("ssl.keystore.location", inline(NEW)), nothing, NEW, "CONTROLLER", APPLIED, id="inline"
    ),
    pytest.param(
        without("ssl.keystore.location", inline(NEW)), inline_truststore, NEW, "CONTROLLER", APPLIED,
        id="both-inline",
    ),
    pytest.param(damaged, truststore, None, "CONTROLLER", KEPT, id="damaged-and-truststore"),
    pytest.param(keystore(NEW), nothing, NEW, "SECOND", APPLIED, id="second-listener"),
    pytest.param(keystore(FOREIGN), truststore, FOREIGN, "SECOND", APPLIED, id="second-listener-foreign"),
    pytest.param(nothing, truststore, None, "SECOND", "", id="second-listener-truststore"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "trust", "shown", "listener", "line"), CASES)
async def test_what_is_used_and_what_the_line_says(
    keys: Dynamic,
    trust: Dynamic,
    shown: Identity | None,
    listener: str,
    line: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "kraftctl.server.ssl")
    prefix = f"listener.name.{listener.lower()}."
    found = write_stores(tmp_path, identity())
    async with serving_ssl({**NO_TEXTS, **found, **REQUIRED, **LISTENERS}) as (server, _):
        driver = RunningDriver()
        running = SslReloading(server.security, driver, Clock().wall_ms, read=load_stores)
        await running.look()
        caplog.clear()
        left_out = trust(tmp_path)
        dynamic = {prefix + key: value for key, value in {**keys(tmp_path), **left_out}.items()}
        driver.dynamic = dynamic
        await running.look()
        lines = [
            f"{each.levelname} {each.getMessage()}"
            for each in caplog.records
            if "expires in" not in each.getMessage()
        ]
        assert await serial(server, listener) == serial_of(shown or identity())
        if left_out:
            for each in ("CONTROLLER", "SECOND"):
                with pytest.raises((ssl.SSLError, ConnectionError)):
                    await serial(server, each, OTHER.issue(BROKER))
        assert len(driver.contexts) == (shown is not None and listener == "CONTROLLER")
    assert len(lines) == (line != "")
    for said in lines:
        assert said.startswith(line.format(listener))
        names = ", ".join(sorted(prefix + key for key in left_out))
        assert (NOT_USED.format(names) in said) == (left_out != {})
    unused = [each.line() for each in node_configs(server.config, dynamic, {}).unused]
    assert len(unused) == len(left_out)
    for named in unused:
        assert "has no effect on this controller: whom a controller trusts is decided by" in named


async def serial(server: SocketServer, listener: str, own: Identity | None = None) -> int:
    """The serial number of what a new connection is shown, once a request of it is served."""
    everybody = authority().pem + OTHER.pem
    context = context_of(own or identity(BROKER), ssl__truststore__certificates=everybody)
    client = await connect_ssl(server, context, listener=listener)
    await expect_served(client)
    shown = client.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    client.writer.transport.abort()
    return x509.load_der_x509_certificate(shown).serial_number
