"""The pods of a rendered StatefulSet as processes, with the commands, variables and files of a kubelet.

The names of pods are in an /etc/hosts that only these processes see, with an address of loopback for each,
and what is bound without an address is bound to that one. Mounted directories are directories of the test.
Nothing else of the manifests is replaced.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from tests.kubernetes.kubernetes_tools import CLUSTER_ID, PLACEHOLDER
from tests.support.processes.hosts_of_processes import with_hosts, write_hosts

LOG_DIRECTORY = "/var/lib/kraftctl"

SECONDS_MAX = 120.0

READY_SECONDS_MAX = 600.0
"""On a machine that does much else: three controllers start beside each other."""

Document = dict[str, Any]


def documents(text: str) -> list[Document]:
    return [each for each in yaml.safe_load_all(text) if each]


def only(kind: str, found: list[Document]) -> Document:
    (document,) = [each for each in found if each["kind"] == kind]
    return document


class Pods:
    """All pods of one StatefulSet; `replicas` may be more than the manifest has, as after `kubectl scale`."""

    def __init__(self, directory: Path, manifests: str, *, replicas: int | None = None) -> None:
        found = documents(manifests)
        self.set = only("StatefulSet", found)
        self.config: dict[str, str] = only("ConfigMap", found)["data"]
        spec = self.set["spec"]
        first = spec["ordinals"]["start"]
        self.domain = f"{spec['serviceName']}.{self.set['metadata']['namespace']}.svc.cluster.local"
        self.ordinals = list(range(first, first + (replicas or spec["replicas"])))
        directory.mkdir(parents=True, exist_ok=True)
        names = {f"{self.name(each)}.{self.domain}": [self.address(each)] for each in self.ordinals}
        self.hosts = write_hosts(directory / "hosts", names)
        program = directory / "bin" / "kraftctl"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {shlex.join(kraftctl_command())} "$@"\n')
        program.chmod(0o755)
        self.path = f"{program.parent}:{os.environ['PATH']}"
        self.by_ordinal = {each: Pod(self, each, directory / self.name(each)) for each in self.ordinals}

    def name(self, ordinal: int) -> str:
        return f"{self.set['metadata']['name']}-{ordinal}"

    def address(self, ordinal: int) -> str:
        return f"127.0.1.{1 + ordinal - self.ordinals[0]}"

    def bootstrap(self) -> str:
        """What brokers have as controller.quorum.bootstrap.servers."""
        (line,) = [
            each
            for each in self.config["controller.properties"].splitlines()
            if each.startswith("controller.quorum.bootstrap.servers=")
        ]
        return line.partition("=")[2]


class Pod:
    """One pod: its init container, and its container after that, are one process after the other."""

    def __init__(self, pods: Pods, ordinal: int, directory: Path) -> None:
        self.ordinal = ordinal
        self.name = pods.name(ordinal)
        self.directory = directory
        self.template = pods.set["spec"]["template"]["spec"]
        self._pods = pods
        self._host = pods.address(ordinal)
        self._places: dict[str, str] = {}
        mounts = {each["mountPath"] for each in self.container["volumeMounts"]}
        for place in sorted(mounts - {"/tmp"}, reverse=True):
            self._places[place] = str(directory / place.strip("/").replace("/", "-"))
            Path(self._places[place]).mkdir(parents=True)
        for name, text in pods.config.items():
            (self.mounted("/etc/kraftctl") / name).write_text(self._here(text))
        self.process: ManagedProcess | None = None

    @property
    def container(self) -> Document:
        (container,) = self.template["containers"]
        assert isinstance(container, dict)
        return container

    @property
    def addresses(self) -> str:
        """All controllers, as its container knows them."""
        return self._variables(self.container)["CONTROLLERS"]

    @property
    def volume(self) -> Path:
        return self.mounted(LOG_DIRECTORY)

    def mounted(self, place: str) -> Path:
        """The directory that is mounted there."""
        return Path(self._places[place])

    def _here(self, text: str) -> str:
        for place, directory in self._places.items():
            text = text.replace(place, directory)
        bound = text.replace("listeners=CONTROLLER://:", f"listeners=CONTROLLER://{self._host}:")
        return bound.replace("operate.listeners=http://:", f"operate.listeners=http://{self._host}:")

    def _variables(self, container: Document) -> dict[str, str]:
        fields = {
            "metadata.name": self.name,
            "metadata.labels['apps.kubernetes.io/pod-index']": str(self.ordinal),
        }
        found = {"PATH": self._pods.path}
        for each in container["env"]:
            source = each.get("valueFrom")
            value = each["value"] if source is None else fields[source["fieldRef"]["fieldPath"]]
            found[each["name"]] = self._here(value)
        return found

    def _command(self, words: list[str]) -> list[str]:
        return [self._here(word) for word in words]

    def start(self) -> None:
        (init,) = self.template["initContainers"]
        variables = self._variables(self.container)
        assert self._variables(init) == variables
        assert self.container["command"][0] == "kraftctl"
        first, then = (shlex.join(self._command(each["command"])) for each in (init, self.container))
        command = with_hosts(self._pods.hosts, ["sh", "-c", f"{first} && exec {then}"])
        self.process = ManagedProcess(self.name, command, self.directory / "output", variables)

    def pre_stop(self, changed: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = self._command(self.container["lifecycle"]["preStop"]["exec"]["command"])
        log = {"CONTAINER_LOG": str(self.directory / "log")}
        variables = {**os.environ, **log, **self._variables(self.container), **(changed or {})}
        return subprocess.run(
            with_hosts(self._pods.hosts, command),
            env=variables,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of kraftctl, as `kubectl exec` runs it."""
        variables = {**os.environ, **self._variables(self.container)}
        command = with_hosts(self._pods.hosts, ["kraftctl", *(self._here(each) for each in arguments)])
        return subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
        )

    def stop(self) -> int | None:
        """As Kubernetes stops a pod."""
        assert self.process is not None
        asked = self.pre_stop()
        assert asked.returncode == 0, asked.stderr
        return self.process.terminate()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()

    def lose_volume(self) -> None:
        shutil.rmtree(self.volume)
        self.volume.mkdir()

    def probe(self, which: str) -> int:
        """The status of `startup`, `liveness` or `readiness`; 0 without an answer."""
        get = self.container[f"{which}Probe"]["httpGet"]
        (port,) = [each["containerPort"] for each in self.container["ports"] if each["name"] == get["port"]]
        connection = http.client.HTTPConnection(self._host, port, timeout=5.0)
        try:
            connection.request("GET", get["path"])
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def is_ready(self) -> bool:
        return [self.probe(which) for which in ("startup", "liveness", "readiness")] == [200, 200, 200]


def runnable(text: str, cluster_id: str) -> str:
    """The manifests with an id, and with ports that are free: pods here share one network."""
    text = text.replace(CLUSTER_ID, cluster_id).replace(PLACEHOLDER, cluster_id)
    for port in ("9093", "9099"):
        text = re.sub(rf"\b{port}\b", str(free_port()), text)
    return text


def start(pods: Pods) -> None:
    """All at the same time: podManagementPolicy is Parallel."""
    assert pods.set["spec"]["podManagementPolicy"] == "Parallel"
    for pod in pods.by_ordinal.values():
        pod.start()


def await_ready(*pods: Pod) -> None:
    for pod in pods:
        await_result(pod.is_ready, f"{pod.name} is ready", READY_SECONDS_MAX)


def voters(pod: Pod) -> dict[int, str]:
    """Directory ids by node ids; none without a leader."""
    described = pod.run(
        *("quorum", "--bootstrap-controller", pod.addresses, "--command-config"),
        *("/etc/kraftctl/client.properties", "describe", "--status"),
    )
    found = re.search(r"CurrentVoters: +(.*)", described.stdout)
    return {} if found is None else {each["id"]: each["directoryId"] for each in json.loads(found[1])}


@contextmanager
def ended(pods: Pods) -> Iterator[Pods]:
    """All pods are killed at the end."""
    try:
        yield pods
    finally:
        for pod in pods.by_ordinal.values():
            pod.kill()
