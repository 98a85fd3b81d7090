"""The Dockerfile installs what the lock files name, by hash, without a compiler: its commands run here."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]

STAGES = {
    match["name"]: match["rest"]
    for match in re.finditer(
        r"^FROM (?P<rest>\S+ AS (?P<name>\S+)\n(?:(?!FROM ).*\n?)*)",
        (ROOT / "Dockerfile").read_text(),
        re.MULTILINE,
    )
}
"""Each stage from its base on."""

IMAGES = ("controller", "exporter")

COMPILERS = ("gcc", "g++", "build-essential", "clang", "jdk")


def base_of(stage: str) -> str:
    return STAGES[stage].split(maxsplit=1)[0]


def bases_of(stage: str) -> list[str]:
    """This stage and those below it, up to the image that is pulled."""
    return [stage, *(bases_of(base_of(stage)) if base_of(stage) in STAGES else [])]


def runs(stage: str) -> list[str]:
    """The commands of a stage, one of those that && joins each."""
    lines = re.findall(r"^RUN (.*)$", STAGES[stage], re.MULTILINE)
    return [command for line in lines for command in line.split(" && ")]


def test_the_services_are_targets_of_the_dockerfile() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    built = [service["build"] for service in services.values() if "build" in service]
    assert built == [{"context": ".", "target": image} for image in IMAGES]


def test_a_shell_of_compose_is_not_the_first_process() -> None:
    """It would ignore SIGTERM while its command formats."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert services["kraftctl"]["command"][0] == "sh"
    assert services["kraftctl"]["init"] is True


def test_what_is_pulled_is_pinned_by_digest() -> None:
    pulled = [base_of(stage) for stage in STAGES if base_of(stage) not in STAGES]
    assert len(pulled) == 2
    for image in pulled:
        assert re.fullmatch(r"python:3\.11\.\d+(-slim)?-bookworm@sha256:[0-9a-f]{64}", image), image
    assert len({image.partition("-")[0] for image in pulled}) == 1, "compiled for another Python"


@pytest.mark.parametrize("stage", STAGES)
def test_pip_takes_nothing_from_an_index_without_a_hash(stage: str) -> None:
    for command in runs(stage):
        if "/pip " in command:
            assert "--require-hashes" in command or "--no-index" in command, command
        assert not re.match(r"(pip|python -m pip)\b", command), command


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_has_no_compiler_and_another_user_than_root(image: str) -> None:
    last = [line for line in STAGES[image].splitlines() if line][-1]
    assert last == "USER 1000:1000", "a name cannot be checked by runAsNonRoot"
    pulled = base_of(bases_of(image)[-1])
    assert "-slim-" in pulled
    installed = " ".join(command for stage in bases_of(image) for command in runs(stage))
    assert not [name for name in COMPILERS if re.search(rf"(?<![\w+]){re.escape(name)}", installed)]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("image", IMAGES)
def test_the_commands_of_an_image_install_it(image: str, tmp_path: Path) -> None:
    """The commands as they are, below another root, without compiling. Needs a package index."""
    copied = re.findall(r"^COPY --from=(\S+) (\S+) \2$", STAGES[image], re.MULTILINE)
    ((source, installed),) = copied
    clone = tmp_path / "src"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists() and not name.startswith(("tests/", "docs/")):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    for stage in reversed(bases_of(source)):
        for command in runs(stage):
            run_below(tmp_path, command)
    environment = {"PATH": f"{tmp_path}{installed}/bin:/usr/bin:/bin"}
    for program in ("kraftctl", "kraftctl-export"):
        said = subprocess.run(
            [f"{tmp_path}{installed}/bin/{program}", "--version"],
            check=True, capture_output=True, text=True, env=environment, cwd=tmp_path,
        ).stdout  # fmt: skip
        assert said.startswith(f"{program} ")
    wanted = locked("requirements-run.lock" if image == "controller" else "requirements-export.lock")
    assert installed_below(tmp_path / installed.lstrip("/")) == wanted


def run_below(root: Path, command: str) -> None:
    """Runs a command of a build stage with `root` as its file system, as far as it is named."""
    below = re.sub(r"(?<![\w.])/(?=(build|src|opt|requirements|wheels)\b)", f"{root}/", command)
    below = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", below)
    below = below.replace("KRAFTCTL_PURE=0", "KRAFTCTL_PURE=1")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KRAFTCTL"))}
    done = subprocess.run(["sh", "-c", below], cwd=root / "src", env=kept, capture_output=True, text=True)
    assert done.returncode == 0, f"{below}\n{done.stdout}{done.stderr}"


def locked(name: str) -> dict[str, str]:
    pins = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text(), re.MULTILINE)
    return dict(pins)


def installed_below(environment: Path) -> dict[str, str]:
    """The distributions of an environment except for kraftctl, with their versions."""
    found = (path.name.removesuffix(".dist-info") for path in environment.rglob("*.dist-info"))
    named = dict(name.rsplit("-", 1) for name in found)
    return {
        re.sub(r"[-_.]+", "-", name).lower(): version for name, version in named.items() if name != "kraftctl"
    }
