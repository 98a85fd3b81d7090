"""A keystore that other accounts may read: a line names it, once until that changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kraftctl.server.security.ssl_reloading import SslReloading
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.ssl_config import read_listener_ssl_config
from kraftctl_security.tls.store_files import readable_keystore
from tests.server.security.reloaded_ssl import NO_TEXTS, PREFIX, RunningDriver, reloading, renewed
from tests.server.security.ssl_serving import identity, serving_ssl, stores, write_stores
from tests.server.security.test_dynamic_stores import LISTENERS


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o440, 0o644, 0o604, 0o660, 0o620], ids=oct)
@pytest.mark.parametrize("kind", ["PEM", "PKCS12", "JKS"])
@pytest.mark.parametrize("is_own", [True, False], ids=["own", "of-root"])
def test_which_modes(
    kind: str, mode: int, is_own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As PostgreSQL: a group may read what is another owner's, as in a volume of secrets with fsGroup."""
    path = tmp_path / "keystore"
    path.write_text("a private key")
    path.chmod(mode)
    if not is_own:
        monkeypatch.setattr(os, "geteuid", lambda: os.stat(path).st_uid + 1)
    password = {} if kind == "PEM" else {"ssl.keystore.password": "store"}
    values = {"ssl.keystore.location": str(path), "ssl.keystore.type": kind, **password}
    found = readable_keystore(read_listener_ssl_config(ConfigValues(values), "CONTROLLER"))
    others = 0o077 if is_own else 0o007
    assert found == ((str(path), "600" if is_own else "o-rwx") if mode & others else None)


def test_what_is_no_file_has_no_mode(tmp_path: Path) -> None:
    for values in (stores(identity(), None), {"ssl.keystore.location": str(tmp_path / "none")}):
        config = read_listener_ssl_config(ConfigValues({"ssl.keystore.type": "PEM", **values}), "CONTROLLER")
        assert readable_keystore(config) is None


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [each.getMessage() for each in caplog.records if "Other accounts" in each.getMessage()]
    caplog.clear()
    return found


async def test_the_line_is_written_once_for_each_change(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with reloading(tmp_path) as running:
        assert lines(caplog) == []
        for mode in (0o640, 0o644):
            running.keystore.chmod(mode)
            await running.settle()
            (line,) = lines(caplog)
            assert line == (
                f"Other accounts may read the private key in {running.keystore} (ssl.keystore.location of"
                f" listener CONTROLLER). Next step: chmod 600 {running.keystore} (of a volume in Kubernetes:"
                " defaultMode: 0440)"
            )
            await running.settle()
            assert lines(caplog) == []
            running.keystore.chmod(0o600)
            await running.settle()
            assert lines(caplog) == []
        dynamic = tmp_path / "dynamic.pem"
        dynamic.write_text(renewed().pem())
        dynamic.chmod(0o644)
        running.driver.dynamic = {f"{PREFIX}ssl.keystore.location": str(dynamic)}
        await running.settle()
        (line,) = lines(caplog)
        assert f"private key in {dynamic} " in line


async def test_a_keystore_of_two_listeners_is_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = write_stores(tmp_path, identity())
    (tmp_path / "keystore.pem").chmod(0o644)
    async with serving_ssl({**NO_TEXTS, **found, **LISTENERS}) as (server, _):
        watching = SslReloading(server.security, RunningDriver(), lambda: 0)
        await watching.look()
        await watching.look()
    assert len(lines(caplog)) == 1
