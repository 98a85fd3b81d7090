"""What is read of the chart without Helm: its versions, its values, and the files that it copies."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kraftctl import __version__
from kraftctl_protocol.uuids import uuid_from_string
from tests.kubernetes.kubernetes_tools import CHART, PLACEHOLDER, PLAIN
from tests.kubernetes.pods import documents, only

ALERTS = Path(__file__).parents[2] / "deploy" / "prometheus" / "kraftctl-alerts.yml"

FREE_FORM = {"config", "resources", "nodeSelector", "podLabels", "podAnnotations", "labels", "global"}
"""Keys below these are of others."""

SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def described(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in schema.get("properties", {}).items():
        where = f"{path}.{name}".lstrip(".")
        if "properties" in each and "description" not in each:
            assert each["additionalProperties"] is False, where
            yield from described(each, where)
        else:
            yield where, each


def keys(values: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in values.items():
        where = f"{path}.{name}".lstrip(".")
        if isinstance(value, dict) and value and name not in FREE_FORM:
            yield from keys(value, where)
        else:
            yield where


def test_each_value_has_a_default_and_a_meaning() -> None:
    assert SCHEMA["additionalProperties"] is False
    meanings = dict(described(SCHEMA))
    assert meanings.keys() - {"global"} == set(keys(yaml.safe_load((CHART / "values.yaml").read_text())))
    assert [name for name, each in meanings.items() if not each["description"].endswith(".")] == []


def test_the_versions_are_those_of_this_release() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert {chart["version"], chart["appVersion"]} == {__version__.partition(".dev")[0]}


def test_the_alerts_are_those_of_prometheus() -> None:
    assert (CHART / "files" / ALERTS.name).read_text() == ALERTS.read_text()


@pytest.mark.parametrize("script", sorted((CHART / "files").glob("*.sh")), ids=lambda path: path.name)
def test_a_script_is_one_of_sh(script: Path) -> None:
    subprocess.run(["sh", "-n", str(script)], check=True)
    data = only("ConfigMap", documents(PLAIN.read_text()))["data"]
    assert data[script.name] == script.read_text()


def test_a_pod_has_time_for_its_gate() -> None:
    pod = only("StatefulSet", documents(PLAIN.read_text()))["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert pod["terminationGracePeriodSeconds"] >= int(variables["RESTART_GATE_SECONDS"]) + 60


def test_a_long_log_may_load() -> None:
    pod = only("StatefulSet", documents(PLAIN.read_text()))["spec"]["template"]["spec"]
    probe = pod["containers"][0]["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 12 * 3600


def test_a_pod_satisfies_the_restricted_profile() -> None:
    """That of the Pod Security Standards, and a root that is read only."""
    pod = only("StatefulSet", documents(PLAIN.read_text()))["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*pod["initContainers"], *pod["containers"]):
        rights = container["securityContext"]
        assert (rights["allowPrivilegeEscalation"], rights["capabilities"]) == (False, {"drop": ["ALL"]})
        assert rights["readOnlyRootFilesystem"] is True
    assert {kind for volume in pod["volumes"] for kind in volume} == {"name", "configMap", "emptyDir"}
    assert pod.keys() & {"hostNetwork", "hostPID", "hostIPC"} == set()


def test_the_placeholder_of_the_plain_manifests_is_no_cluster_id() -> None:
    """A cluster would have an id that others have, too."""
    assert PLAIN.read_text().count(f'value: "{PLACEHOLDER}"') == 2
    with pytest.raises(ValueError, match="not a Kafka UUID"):
        uuid_from_string(PLACEHOLDER)
