"""What has a forgotten name: no plan makes a pseudonym a name of a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kraftctl_spark.cli import main
from kraftctl_spark.restore.cluster_state import ResourceConfig
from kraftctl_spark.restore.forgotten_names import FORGOTTEN, without_forgotten
from kraftctl_spark.restore.plan import NotRestored, plan_of
from kraftctl_spark.restore.plan_file import read_plan
from kraftctl_spark.tables.output import Output
from tests.spark.forgotten_names import PRINCIPAL, TOPIC, made_output, records
from tests.spark.restore.restored_states import SMALL


def test_it_is_listed_as_not_restored(tmp_path: Path) -> None:
    output = made_output(tmp_path / "tables", records()[:-1])  # All but the end of the topic.
    for name in (["--principal", PRINCIPAL], ["--topic", TOPIC, "--everywhere"]):
        assert main(["forget", "--output", str(output), *name, "--accept-present", "--execute"]) == 0
    pseudonyms = [one.pseudonym for one in Output(output).log.state().forgotten]
    assert main(["restore", "--output", str(output), "--plan", str(tmp_path / "plan.toml")]) == 0
    plan = read_plan(tmp_path / "plan.toml")
    restored = str([plan.topics, plan.configs, plan.acls, plan.quotas])
    left = [one.what for one in plan.not_restored]
    for pseudonym in pseudonyms:
        assert pseudonym not in restored
        assert any(pseudonym in what for what in left)
    assert {what.split()[0] for what in left if any(each in what for each in pseudonyms)} >= {
        *("topic", "config", "ACL", "quota"),
    }
    assert "orders" in restored


def test_a_pseudonym_within_a_value_is_not_restored() -> None:
    """As that of a principal among super.users; a value that is left out is not printed."""
    config = ResourceConfig("BROKER", "", "principal.mapping")
    state = replace(SMALL, configs={**SMALL.configs, config: "User:alice;User:forgotten-1"})
    plan = plan_of(state, offset=7, time="", with_replicas=False)
    left = without_forgotten(plan, {"forgotten-1"})
    assert left.configs == tuple(one for one in plan.configs if one.config != config)
    assert left.not_restored == (*plan.not_restored, NotRestored(f"config {config}", FORGOTTEN))
    assert "forgotten-1" not in str(left)
