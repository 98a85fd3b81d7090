"""Controllers that authenticate to each other by SCRAM form a quorum, also after all of them were killed."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.processes import ProcessFailedError
from kraftctl.dev.settings import CONTROLLER_LISTENER, write_properties
from tests.support.processes.quorum import NEW_LEADER_SECONDS_MAX, Quorum

PASSWORD = "controller-secret"
JAAS = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required"
    f' username="controller" password="{PASSWORD}";'
)


def settings(users: Path) -> dict[str, str]:
    return {
        "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
        f"listener.name.{CONTROLLER_LISTENER.lower()}.scram-sha-512.sasl.jaas.config": JAAS,
        "kraftctl.scram.users.path": str(users),
    }


def leader_epoch(quorum: Quorum, command_config: Path, *, above: int) -> int | None:
    """The epoch of the leader whom all three follow; None before there is one."""
    ports = ",".join(f"localhost:{node.port}" for node in quorum.nodes)
    flags = ("--bootstrap-controller", ports, "--command-config", str(command_config))
    try:
        status = run_to_the_end(kraftctl_command("quorum", *flags, "describe", "--status"), "asking")
    except ProcessFailedError:
        return None
    epoch, lag = (
        int(re.findall(rf"{name}: +(-?\d+)", status)[0]) for name in ("LeaderEpoch", "MaxFollowerLag")
    )
    return epoch if epoch > above and 0 <= lag < 10 else None


@pytest.mark.slow
@pytest.mark.prevents("kafka-dev#106")
def test_a_quorum_forms_again_after_all_controllers_were_killed(tmp_path: Path) -> None:
    """kafka-dev#106: what is committed is not known before controllers have talked to each other."""
    users, command_config = tmp_path / "users", tmp_path / "client.properties"
    users.write_text(f"SCRAM-SHA-512=[name=controller,password={PASSWORD}]\n")
    users.chmod(0o600)
    client = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512"}
    write_properties(command_config, {**client, "sasl.jaas.config": JAAS, "default.api.timeout.ms": "2000"})
    with Quorum(tmp_path, dynamic=False, settings=settings(users)) as quorum:
        asked = partial(leader_epoch, quorum, command_config)
        epoch = await_result(lambda: asked(above=0), "all follow one leader", NEW_LEADER_SECONDS_MAX)
        for node in quorum.nodes:
            node.kill()
        for node in quorum.nodes:
            node.start(wait=False)
        await_result(lambda: asked(above=epoch), "all follow one leader again", NEW_LEADER_SECONDS_MAX)
