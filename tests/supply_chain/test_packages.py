"""The Debian package and the RPM: below a scratch root they format and start, and two builds are equal."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl_protocol.uuids import uuid_to_string
from tests.supply_chain import debian_package, dist_check, rpm_package
from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.package_tree import CONFFILE, MAN_PAGES, PACKAGES, add_man_pages, package_version
from tests.supply_chain.release import release


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_they_run_below_a_scratch_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs a package index. Where rpmbuild is missing, only the Debian package is built."""
    monkeypatch.setenv("KRAFTCTL_PURE", "1")
    made = tmp_path / "made"
    version = release("HEAD", made)
    package = debian_package.build(made)
    assert output("dpkg-deb", "-f", package, "Version") == f"{package_version(version)}\n"
    output("dpkg-deb", "-e", package, tmp_path / "control")
    assert (tmp_path / "control" / "conffiles").read_text() == f"/{CONFFILE}\n"
    runs(package, debian_package.UNITS, tmp_path / "deb")
    first = package.read_bytes()
    assert debian_package.build(made).read_bytes() == first

    if shutil.which("rpmbuild") is not None:
        package = rpm_package.build(made)
        assert output("rpm", "-qp", "--qf", "%{VERSION}", package) == package_version(version)
        assert output("rpm", "-qpc", package) == f"/{CONFFILE}\n"
        runs(package, rpm_package.UNITS, tmp_path / "rpm")
        first = package.read_bytes()
        assert rpm_package.build(made).read_bytes() == first
    dist_check.check_release(made, ["*.deb", "*.rpm"])


def runs(package: Path, units: str, root: Path) -> None:
    """The unit names what is in the package; its configuration formats a directory and passes the checks."""
    root.mkdir()
    dist_check.unpack(package, root)
    unit = (root / units / "kraftctl.service").read_text()
    assert f"ExecStart=/usr/bin/kraftctl start /{CONFFILE}\n" in unit
    has_the_manual(root)
    file = root / "controller.properties"
    file.write_text((root / CONFFILE).read_text().replace("/var/lib/kraftctl", str(root / "log")))
    program = root / "usr/bin/kraftctl"
    output(program, "format", "--standalone", "-t", dist_check.CLUSTER_ID, "-c", file)
    assert "ERROR" not in output(program, "start", "--check", "--offline", file)


def has_the_manual(root: Path) -> None:
    sources = {f"{page.name}.gz": page.read_bytes() for page in (ROOT / "man").glob("*.1")}
    packed = {page.name: page.read_bytes() for page in (root / MAN_PAGES).iterdir()}
    assert {name: gzip.decompress(data) for name, data in packed.items()} == sources
    assert "kraftctl.1.gz" in packed
    assert {data[3:8] for data in packed.values()} == {bytes(5)}, "neither name nor time"


def test_the_manual_is_packed_as_gzip_n_does(tmp_path: Path) -> None:
    add_man_pages(tmp_path)
    has_the_manual(tmp_path)


@pytest.mark.parametrize("page", ["releases.md", "systemd.md"])
def test_the_documented_commands_format_with_the_packaged_configuration(
    tmp_path: Path, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one of a controller that is alone, and those of the first and of the others of three."""
    text = (ROOT / "docs/operations" / page).read_text()
    (documented,) = re.findall(r"^runuser -u kraftctl -- kraftctl (format .*)$", text, re.MULTILINE)
    file, three = tmp_path / "one.properties", tmp_path / "three.properties"
    properties = (PACKAGES / "controller.properties").read_text()
    file.write_text(properties.replace("/var/lib/kraftctl", str(tmp_path / "one")))
    servers = "bootstrap.servers=localhost:9093"
    assert servers in properties
    properties = properties.replace(servers, "bootstrap.servers=c1:9093,c2:9093,c3:9093")
    three.write_text(properties.replace("/var/lib/kraftctl", str(tmp_path / "three")))
    words = documented.replace("CLUSTER_ID", dist_check.CLUSTER_ID)
    for quorum, more in (
        (file, []),
        (three, initial_controllers(text)),
        (three, ["--no-initial-controllers"]),
    ):
        shutil.rmtree(tmp_path / "three", ignore_errors=True)
        command = words.replace(f"/{CONFFILE}", str(quorum)).split()
        if more:
            command = [*(word for word in command if word != "--standalone"), *more]
        assert main(command) == 0, capsys.readouterr().err
    assert "`--no-initial-controllers`" in text


def initial_controllers(text: str) -> list[str]:
    """The flag of the page, with directory ids in the place of its ID_1 to ID_3."""
    (flag,) = re.findall(r"`(--initial-controllers \S+)`", text)
    return re.sub(r"ID_\d", lambda _: uuid_to_string(uuid.uuid4().bytes), flag).split()


@pytest.mark.parametrize("name", debian_package.SCRIPTS)
def test_their_scripts_are_scripts_that_delete_no_log(name: str) -> None:
    text = (PACKAGES / name).read_text()
    assert text.startswith("#!/bin/sh\n")
    subprocess.run(["sh", "-n", PACKAGES / name], check=True)
    deleted = [line for line in text.splitlines() if "rm -" in line]
    assert all("__pycache__" in line for line in deleted), deleted
    assert "userdel" not in text
    owned = [line for line in text.splitlines() if "chown" in line or "chmod" in line]
    assert all(line.startswith("            ") for line in owned), "an upgrade changes no owner and mode"


@pytest.mark.parametrize("made", [[], ["kraftctl-1.provenance.json", "kraftctl-2.provenance.json"]])
def test_without_one_release_it_says_what_to_make(tmp_path: Path, made: list[str]) -> None:
    for name in made:
        (tmp_path / name).touch()
    with pytest.raises(SystemExit, match=r"one kraftctl-\*.provenance.json .*: make release") as ended:
        debian_package.build(tmp_path)
    assert ", ".join(made or ["no file"]) in str(ended.value)


def test_a_build_between_releases_is_older_than_the_next() -> None:
    """Where there is no dpkg, only the text is compared."""
    assert package_version("0.1.0.dev7") == "0.1.0~dev7"
    if shutil.which("dpkg") is None:
        return
    for older, newer in (("0.1.0.dev7", "0.1.0.dev12"), ("0.1.0.dev12", "0.1.0"), ("0.1.0", "0.2.0.dev13")):
        subprocess.run(
            ["dpkg", "--compare-versions", package_version(older), "lt", package_version(newer)], check=True
        )
