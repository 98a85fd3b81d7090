"""The Dockerfiles of deploy/image: pinned, by hash, another user than root, labels; and scripts that parse.

hadolint finds nothing in them; these are its rules that matter, for machines without it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.image_tree import Stage, stages

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "deploy/image"
NAMES = ("dropin", "slim", "strimzi")
SCRIPTS = sorted(path.name for path in (IMAGES / "start").iterdir())
LABELS = ("title", "description", "version", "revision")
USERS = {"dropin": "appuser", "slim": "1000:1000", "strimzi": "1001"}
"""Those of the bases; a numeric one can be checked by runAsNonRoot."""

PYTHON = re.compile(r"python:3\.11\.\d+-slim-bookworm@sha256:[0-9a-f]{64}")


def all_stages(name: str) -> list[Stage]:
    return list(stages(IMAGES / name / "Dockerfile", {"STRIMZI_IMAGE": "strimzi"}).values())


def said(name: str, instruction: str) -> list[str]:
    return [rest for stage in all_stages(name) for word, rest in stage.instructions if word == instruction]


@pytest.mark.parametrize("name", NAMES)
def test_bases_are_pinned(name: str) -> None:
    for stage in all_stages(name):
        assert PYTHON.fullmatch(stage.base) or stage.base in ("apache/kafka:4.3.1", "strimzi"), stage.base
    assert "latest" not in (IMAGES / name / "Dockerfile").read_text()


def test_all_take_the_python_of_the_dockerfile_at_the_top() -> None:
    (pulled,) = PYTHON.findall((ROOT / "Dockerfile").read_text())
    for name in ("slim", "strimzi"):
        assert pulled in (IMAGES / name / "Dockerfile").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_pip_takes_nothing_without_a_hash(name: str) -> None:
    installed = [
        command for run in said(name, "RUN") for command in run.split("&&") if " install --no-c" in command
    ]
    assert len(installed) == 1
    assert "--require-hashes" in installed[0]
    assert "--only-binary :all:" in installed[0]
    (run,) = [run for run in said(name, "RUN") if "--require-hashes" in run]
    for command in run.split("&&"):
        assert (" install " in command) == ("--require-hashes" in command), command
    assert run.index("sha256sum -c SHA256SUMS") < run.index("--require-hashes")
    assert "--hash=sha256:" in run


@pytest.mark.parametrize("name", NAMES)
def test_what_runs_is_not_root_and_has_labels(name: str) -> None:
    last = all_stages(name)[-1]
    assert [rest for word, rest in last.instructions if word == "USER"][-1] == USERS[name]
    (labels,) = [rest for word, rest in last.instructions if word == "LABEL"]
    assert re.findall(r"org\.opencontainers\.image\.(\w+)=", labels) == list(LABELS)
    words = {word for stage in all_stages(name) for word, _ in stage.instructions}
    assert words <= {
        *("ARG", "COPY", "ENV", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK", "LABEL", "RUN", "SHELL", "USER"),
        *("VOLUME", "WORKDIR"),
    }


def test_slim_asks_livez() -> None:
    (check,) = said("slim", "HEALTHCHECK")
    assert "kraftctl.cli.container.livez" in check
    (environment,) = said("slim", "ENV")
    assert "KRAFTCTL_OPERATE_LISTENERS=http://127.0.0.1:9099" in environment


@pytest.mark.parametrize("name", NAMES)
def test_only_what_is_copied_is_sent(name: str) -> None:
    sent = (IMAGES / name / "Dockerfile.dockerignore").read_text().split()
    copied = {word for rest in said(name, "COPY") if "--from" not in rest for word in rest.split()[:-1]}
    assert sent[0] == "*"
    assert {each for word in copied for each in sent[1:] if word.startswith(each[1:])} == set(sent[1:])
    for word in copied - {"dist"}:
        assert (ROOT / word).is_file(), word


def test_the_page_builds_what_is_there() -> None:
    """`docker run` of the page is carried out by test_image_trees.py."""
    page = (ROOT / "docs/operations/containers.md").read_text()
    built = re.findall(r"-f (\S+/Dockerfile) (?:--build-arg (\w+)=\S+ )?-t kraftctl:(\w+) \.", page)
    assert sorted(name for _, _, name in built) == sorted(NAMES)
    for path, argument, name in built:
        assert path == f"deploy/image/{name}/Dockerfile"
        assert f"ARG {argument}" in (ROOT / path).read_text()
    ((compose, profiles),) = re.findall(
        r"^docker compose -f (\S+)((?: --profile \w+)+) up", page, re.MULTILINE
    )
    known = {each for service in services(ROOT / compose) for each in service["profiles"]}
    assert set(re.findall(r"--profile (\w+)", profiles)) <= known
    assert set(re.findall(r"`(single|quorum|secure|observe)`", page)) == known


def services(path: Path) -> list[dict[str, list[str]]]:
    return list(yaml.safe_load(path.read_text())["services"].values())


@pytest.mark.parametrize("name", SCRIPTS)
def test_start_scripts_parse(name: str) -> None:
    path = IMAGES / "start" / name
    shell = "bash" if name == "launch" else "sh"
    subprocess.run([shell, "-n", path], check=True)
    assert (path.read_text().startswith("#!/bin/sh\n")) == (shell == "sh")


@pytest.mark.parametrize("status", [0, 1, 3, 127])
@pytest.mark.parametrize("name", ["kafka-server-start.sh", "kafka-storage.sh", "launch"])
def test_a_role_that_is_not_known_starts_nothing(name: str, status: int, tmp_path: Path) -> None:
    """Java starts only after the status that says so: a failure of Python is no answer."""
    python, java = tmp_path / "python", tmp_path / name.replace(".sh", "-java.sh")
    python.write_text(f'#!/bin/sh\ncase "$*" in *role*) exit {status} ;; esac\necho kraftctl\n')
    (tmp_path / "launch-java" if name == "launch" else java).write_text("#!/bin/sh\necho java\n")
    script = tmp_path / name
    text = (IMAGES / "start" / name).read_text().replace("/opt/kraftctl/bin/python", str(python))
    script.write_text(text.replace("/etc/kafka/docker/launch-java", str(tmp_path / "launch-java")))
    for each in tmp_path.iterdir():
        each.chmod(0o755)
    words = ["format", "-c", "file"] if name == "kafka-storage.sh" else ["file"]
    command = ["bash", "-e", str(script)] if name == "launch" else [str(script), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30.0, check=False)
    expected = {0: (0, "kraftctl\n"), 3: (0, "java\n")}.get(status, (status, ""))
    assert (done.returncode, done.stdout) == expected
    assert ("Next step:" in done.stderr) == (status not in (0, 3))


@pytest.mark.parametrize("extras", ["", "[console]"])
def test_slim_takes_extras(extras: str, tmp_path: Path) -> None:
    """The wheel of the release, with its hash, as pip is to install it; the trees of images have no extra."""
    name, digest = "kraftctl-1.0-py3-none-any.whl", 64 * "a"
    (tmp_path / "SHA256SUMS").write_text(f"{64 * 'b'}  kraftctl-1.0.tar.gz\n{digest}  {name}\n")
    (run,) = [run for run in said("slim", "RUN") if "--require-hashes" in run]
    (command,) = re.findall(r"sed .*?(?=> /wheel\.txt)", run)
    given = {"PATH": "/usr/bin:/bin", "EXTRAS": extras} if extras else {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-euc", command], cwd=tmp_path, env=given, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"/dist/{name}{extras} --hash=sha256:{digest}\n"
