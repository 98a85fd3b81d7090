"""The Debian package and the RPM: below a scratch root they format and start, and two builds are equal."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl_protocol.uuids import uuid_to_string
from tests.supply_chain import debian_package, dist_check, installed_use, rpm_package
from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.package import build
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
    package = build("deb", made)
    assert output("dpkg-deb", "-f", package, "Version") == f"{package_version(version)}\n"
    output("dpkg-deb", "-e", package, tmp_path / "control")
    assert (tmp_path / "control" / "conffiles").read_text() == f"/{CONFFILE}\n"
    runs(package, debian_package.UNITS, tmp_path / "deb")
    first = package.read_bytes()
    assert build("deb", made).read_bytes() == first

    if shutil.which("rpmbuild") is not None:
        package = build("rpm", made)
        assert output("rpm", "-qp", "--qf", "%{VERSION}", package) == package_version(version)
        assert output("rpm", "-qpc", package) == f"/{CONFFILE}\n"
        runs(package, rpm_package.UNITS, tmp_path / "rpm")
        first = package.read_bytes()
        assert build("rpm", made).read_bytes() == first
    an_extra_is_installed_as_documented(made, tmp_path / "environment")
    first_used, *_ = dist_check.check_release(made, ["*.deb", "*.rpm"])
    assert first_used.name == "Debian package"


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_without_its_tool_a_package_says_which(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is built: the directory is not looked at."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SystemExit, match=rf"^make {kind} needs .*(dpkg-deb|rpmbuild) on the PATH. Next step: "
    ):
        build(kind, tmp_path / "none")


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
    output(program, "format", "--standalone", "-t", installed_use.CLUSTER_ID, "-c", file)
    assert "ERROR" not in output(program, "start", "--check", "--offline", file)


def an_extra_is_installed_as_documented(made: Path, environment: Path) -> None:
    """And goes with the documented command."""
    text = (ROOT / "docs/operations/releases.md").read_text()
    (block,) = re.findall(r"^## Extras\n.*?^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (uninstall,) = re.findall(r"\|\| (pip uninstall kraftctl)$", text, re.MULTILINE)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    variables = {**installed_use.clean_variables(), "PATH": f"{environment}/bin:/usr/bin:/bin"}
    for command in (block, f"{uninstall} -y"):
        subprocess.run(["sh", "-ec", command], cwd=made, check=True, env=variables)
        assert (environment / "bin/kraftctl").exists() == (command is block)
        assert (environment / "bin/uvicorn").exists()
    (made / "console.txt").unlink()


UPGRADE = "Upgrade and downgrade"
CHAINS = [
    ("Uninstall", 0, ["may-stop -i 7", "systemctl disable", "remove-controller -i 7"]),
    (UPGRADE, 0, ["may-stop -i 7", "apt install", "systemctl restart", "curl readyz"]),
    (UPGRADE, 1, ["may-stop -i 7", "systemctl stop", "pip install", "systemctl start", "curl readyz"]),
]


def documented_chain(
    tmp_path: Path, heading: str, number: int, fails: str
) -> tuple[subprocess.CompletedProcess[bytes], list[set[str]]]:
    """Runs a block of the page with programs that note what they are asked; what has this word fails.

    `sed` gets the packaged file in place of the installed one, whose controller has another id.
    """
    text = (ROOT / "docs/operations/releases.md").read_text()
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    file, called = tmp_path / "controller.properties", tmp_path / "called"
    packaged = (PACKAGES / "controller.properties").read_text()
    file.write_text(packaged.replace("\nnode.id=1\n", "\nnode.id=7\n"))
    block = section.split("```\n")[1::2][number].replace(f"/{CONFFILE}", str(file))
    for name in ("kraftctl", "apt", "pip", "systemctl", "curl"):
        noted = f'echo {name} "$@" >> {called}\ncase "$*" in *{fails}*) exit 3 ;; esac\n'
        (tmp_path / name).write_text(f"#!/bin/sh\n{noted}")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(["sh", "-c", block], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
    return done, [set(line.replace("/", " ").split()) for line in called.read_text().splitlines()]


@pytest.mark.parametrize(("heading", "number", "expected"), CHAINS)
def test_a_controller_that_may_not_stop_is_left_alone(
    tmp_path: Path, heading: str, number: int, expected: list[str]
) -> None:
    """The id is that of this machine, so that the one which stops is the one that was asked about."""
    done, lines = documented_chain(tmp_path, heading, number, "may-stop")
    assert (done.returncode, len(lines)) == (3, 1)
    (tmp_path / "called").unlink()
    done, lines = documented_chain(tmp_path, heading, number, "nothing-of-it")
    assert (done.returncode, len(lines)) == (0, len(expected))
    assert all(set(words.split()) <= line for line, words in zip(lines, expected, strict=True))


def test_an_upgrade_that_fails_leaves_no_controller_stopped(tmp_path: Path) -> None:
    """pip has to find the controller stopped: it starts again even if nothing was installed."""
    for number, program in enumerate(("apt", "pip")):
        _, lines = documented_chain(tmp_path, UPGRADE, number, "install")
        assert any({program, "install"} <= line for line in lines)
        stopped = [line & {"stop", "start"} for line in lines if "systemctl" in line]
        assert stopped == ([{"stop"}, {"start"}] if program == "pip" else [])
        (tmp_path / "called").unlink()


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
    words = documented.replace("CLUSTER_ID", installed_use.CLUSTER_ID)
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
        build("deb", tmp_path)
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
