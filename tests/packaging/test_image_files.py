"""The Dockerfiles of deploy/image: pinned, by hash, another user than root, labels; and scripts that parse.

hadolint finds nothing in them; these are its rules that matter, for machines without it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from kraftctl.cli.container.defaults import DEFAULTS
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


def test_slim_takes_the_python_of_the_dockerfile_at_the_top() -> None:
    (pulled,) = PYTHON.findall((ROOT / "Dockerfile").read_text())
    assert pulled in (IMAGES / "slim/Dockerfile").read_text()


@pytest.mark.parametrize("name", ["dropin", "strimzi"])
def test_a_python_in_another_image_is_that_of_its_base(name: str) -> None:
    """Both stages have the same libc, and the build starts what a container starts."""
    build, last = all_stages(name)
    assert build.base == last.base
    installed = next(rest for word, rest in build.instructions if word == "RUN")
    runs = [rest for word, rest in last.instructions if word == "RUN"]
    assert runs[0] == installed
    assert [run for run in runs if "/opt/kraftctl/bin/python -I -m kraftctl start --help" in run]
    copied = [rest for word, rest in last.instructions if word == "COPY" and "--from" in rest]
    assert copied == ["--from=build /opt/kraftctl /opt/kraftctl"]


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
    (entrypoint,) = said("slim", "ENTRYPOINT")
    assert json.loads(entrypoint)[-2:] == ["container", "--defaults"]
    assert DEFAULTS["kraftctl.operate.listeners"] == "http://127.0.0.1:9099"
    assert said("slim", "VOLUME") == [json.dumps([DEFAULTS["log.dirs"]])]
    page = (ROOT / "docs/operations/containers.md").read_text()
    for key, value in DEFAULTS.items():
        assert f"`{key}={value}`" in page


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
    done = started(tmp_path, name, status, "process.roles=controller")
    expected = {0: (0, ["kraftctl"]), 3: (0, ["java"])}.get(status, (status, []))
    assert (done.returncode, done.stdout.split()[:1]) == expected
    assert ("Next step:" in done.stderr) == (status not in (0, 3))


def started(
    tmp_path: Path, name: str, status: int, text: str, words: Sequence[str] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a start script on this file, where `role` has that status; `launch` as `run` of Kafka does."""
    root = tmp_path / "root"
    for directory in (
        "opt/kraftctl/bin",
        "opt/kraftctl/start",
        "bin",
        "etc/kafka/docker",
        MOUNTED,
    ):
        (root / directory).mkdir(parents=True, exist_ok=True)
    file = root / MOUNTED / "server.properties"
    file.write_text(text)
    scripts = {f"opt/kraftctl/start/{each}": (IMAGES / "start" / each).read_text() for each in SCRIPTS}
    scripts |= {f"bin/{each}": (IMAGES / "start" / each).read_text() for each in SCRIPTS}
    python = f'case "$*" in *container.role*) exit {status} ;; esac\necho kraftctl ${{CLUSTER_ID-}}\n'
    scripts["opt/kraftctl/bin/python"] = f"#!/bin/sh\n{python}"
    for each in SCRIPTS:
        scripts[f"bin/{each.replace('.sh', '-java.sh')}"] = "#!/bin/sh\necho java ${CLUSTER_ID-}\n"
    scripts["etc/kafka/docker/launch-java"] = scripts["bin/launch"] = "echo java ${CLUSTER_ID-}\n"
    scripts["etc/kafka/docker/launch"] = (IMAGES / "start/launch").read_text()
    scripts["etc/kafka/docker/run"] = KAFKAS_RUN
    for path, script in scripts.items():
        below = re.sub(r"(?<![\w.}])/(?=(opt/kraftctl|etc|mnt)/)", f"{root}/", script)
        (root / path).write_text(below)
        (root / path).chmod(0o755)
    given: Mapping[str, str] = {"PATH": os.environ["PATH"], **variables}
    command: list[str | Path] = [root / "etc/kafka/docker/run"] if name == "launch" else [root / "bin" / name]
    command += ["format", "-c", file] if name == "kafka-storage.sh" else []
    command += [file] if name == "kafka-server-start.sh" else []
    return subprocess.run(
        [*command, *words], env=given, capture_output=True, text=True, timeout=30.0, check=False
    )


KAFKAS_RUN = """\
#!/usr/bin/env bash
set -o nounset -o errexit
for each in "$@"; do export "$each"; done
[[ -n ${CLUSTER_ID:-} ]] || export CLUSTER_ID=5L6g3nShT-eMCtK--X86sw
. /etc/kafka/docker/launch
"""
"""What matters here of Kafka's scripts `run` and `configureDefaults`, in words of this test."""

MOUNTED = "/mnt/shared/config".lstrip("/")

KAFKAS_ID = "5L6g3nShT-eMCtK--X86sw"


@pytest.mark.parametrize("status", [1, 127])
@pytest.mark.parametrize("name", ["kafka-server-start.sh", "kafka-storage.sh", "launch"])
@pytest.mark.parametrize(
    ("text", "java"),
    [
        pytest.param("process.roles=broker", True, id="broker"),
        pytest.param(" process.roles : broker,controller", True, id="combined"),
        pytest.param("process.roles=controller\nprocess.roles=broker", True, id="the-last-counts"),
        pytest.param("process.roles=broker\nprocess.roles=controller", False, id="of-two-a-controller"),
        pytest.param("#process.roles=broker", False, id="a-comment"),
        pytest.param("node.id=1", False, id="none"),
    ],
)
def test_a_broker_starts_without_python(
    tmp_path: Path, name: str, status: int, text: str, java: bool
) -> None:
    done = started(tmp_path, name, status, text)
    assert (done.returncode, done.stdout.startswith("java")) == ((0, True) if java else (status, False))
    if name == "launch":
        done = started(tmp_path, name, status, text, KAFKA_PROCESS_ROLES="broker")
        assert done.stdout.startswith("java")
        done = started(tmp_path, name, status, text, KAFKA_PROCESS_ROLES="controller")
        assert done.returncode == status
    if name == "kafka-server-start.sh":
        done = started(tmp_path, name, status, text, ["--override", "process.roles=controller"])
        assert done.returncode == status


@pytest.mark.parametrize(
    ("variables", "words", "formatted"),
    [
        pytest.param({}, [], "", id="not-given"),
        pytest.param({"CLUSTER_ID": ""}, [], "", id="empty"),
        pytest.param({"CLUSTER_ID": "x"}, [], "x", id="a-variable"),
        pytest.param({"CLUSTER_ID": KAFKAS_ID}, [], KAFKAS_ID, id="kafkas-as-a-variable"),
        pytest.param({}, [f"CLUSTER_ID={KAFKAS_ID}"], KAFKAS_ID, id="kafkas-as-an-argument"),
        pytest.param({"CLUSTER_ID": "x"}, ["CLUSTER_ID=y"], "y", id="an-argument"),
    ],
)
def test_kafkas_default_cluster_id_formats_no_controller(
    tmp_path: Path, variables: dict[str, str], words: list[str], formatted: str
) -> None:
    """Brokers keep it: those of the apache/kafka image are formatted with it."""
    controller = started(tmp_path, "launch", 0, "", words, **variables)
    assert controller.stdout == f"kraftctl {formatted}".strip() + "\n"
    broker = started(tmp_path, "launch", 3, "", words, **variables)
    assert broker.stdout == f"java {formatted or KAFKAS_ID}\n"


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
