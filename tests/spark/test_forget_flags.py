"""The name that is to be forgotten: in a file, out of sight of other accounts, and not while it is in use."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest

from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_spark.cli import main, new_parser
from kraftctl_spark.commands.name_flags import name_of
from kraftctl_spark.forgetting.still_there import still_there
from kraftctl_spark.forgetting.version_texts import texts_of_kind
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.stage import ONE_BY_ONE
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from tests.spark.expired_tables import expire, time_behind
from tests.spark.forgotten_names import (
    PRINCIPAL,
    TOPIC,
    USER,
    continued,
    made_output,
    records,
    removals,
)

ACL = AccessControlEntryRecord(
    id=b"c" * 16,
    resource_type=2,
    resource_name="orders",
    pattern_type=3,
    principal=PRINCIPAL,
    host="*",
    operation=3,
    permission_type=3,
)
SCRAM = UserScramCredentialRecord(name=USER, mechanism=2, salt=b"s", stored_key=b"k", server_key=b"s")
IN_USE: dict[str, tuple[list[str], Message]] = {
    "topics": (["--topic", TOPIC], TopicRecord(name=TOPIC, topic_id=b"t" * 16)),
    "acls": (["--principal", PRINCIPAL], ACL),
    "scram_credentials": (["--principal", PRINCIPAL], SCRAM),
    "quotas": (
        ["--principal", PRINCIPAL],
        ClientQuotaRecord(entity=[EntityData("user", USER)], key="x", value=1.0),
    ),
    "delegation_tokens": (["--principal", PRINCIPAL], DelegationTokenRecord("u", renewers=[PRINCIPAL])),
    "configs": (
        ["--principal", PRINCIPAL],
        ConfigRecord(2, "orders", "cleanup.policy", f"User:bob;{PRINCIPAL}"),
    ),
}
"""A record after which the cluster has a name, by the table that has it."""


def test_each_kind_that_may_have_a_name_is_among_them() -> None:
    """Those of others have the name where it may be something else: only --everywhere replaces it there."""
    others = {"brokers", "controllers", "features"}
    assert set(IN_USE) == {kind.name for kind in ONE_BY_ONE if texts_of_kind(kind)} - others


@pytest.mark.parametrize(
    ("table", "history"),
    [*((table, "none") for table in IN_USE), *(("acls", one) for one in ("behind", "whole", "expired"))],
)
def test_a_name_that_the_cluster_has_is_refused(
    tmp_path: Path, table: str, history: str, caplog: pytest.LogCaptureFixture
) -> None:
    flags, record = IN_USE[table]
    made = [*records(), *removals(), record]
    if history == "behind":
        output = continued(made_output(tmp_path / "tables", made[:-1]), made)
    else:
        output = made_output(tmp_path / "tables", made, history=history != "none")
    if history == "expired":
        assert expire(output, time_behind(output, 2), "--execute") == 0
    before = Output(output).commit_number
    command = ["forget", "--output", str(output), *flags]
    for more in ([], ["--execute", "--everywhere"]):
        assert main([*command, *more]) == 2
    assert f"1 of {table}. Remove it from the cluster" in caplog.text
    assert TOPIC not in caplog.text
    assert USER not in caplog.text
    assert Output(output).commit_number == before
    assert main([*command, "--accept-present", "--execute"]) == 0
    assert Output(output).log.state().forgotten[0].finished_at_ms


@pytest.mark.parametrize("flags", [["--topic", TOPIC], ["--principal", PRINCIPAL]])
def test_a_name_that_the_cluster_has_no_more_is_forgotten(tmp_path: Path, flags: list[str]) -> None:
    output = made_output(tmp_path / "tables", [*records(), *removals()])
    assert main(["forget", "--output", str(output), *flags, "--execute"]) == 0


def test_the_end_of_the_tables_counts_and_not_that_of_the_history(tmp_path: Path) -> None:
    output = made_output(tmp_path / "tables", records(), history=True)
    name = WantedName("topic", "orders", "p")
    assert still_there(Output(output), name).by_table == {"topics": 1, "configs": 1}
    assert still_there(Output(output), name).end == len(records())


@pytest.mark.parametrize(
    ("flag", "name", "place", "end"),
    [
        ("--principal-file", PRINCIPAL, "file", ""),
        ("--principal-file", PRINCIPAL, "-", "\n"),
        ("--topic-file", TOPIC, "file", "\r\n"),
        ("--topic-file", TOPIC, "-", ""),
    ],
)
def test_the_name_is_read_from_a_file_or_standard_input(
    tmp_path: Path, flag: str, name: str, place: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = made_output(tmp_path / "tables", records(), history=False)
    (tmp_path / "name").write_text(name + end)
    monkeypatch.setattr("sys.stdin", io.StringIO(name + end))
    where = str(tmp_path / "name") if place == "file" else "-"
    assert main(["forget", "--output", str(output), flag, where, "--accept-present", "--execute"]) == 0
    (one,) = Output(output).log.state().forgotten
    assert one.kind == ("topic" if name == TOPIC else "principal")
    assert one.finished_at_ms


@pytest.mark.parametrize("text", ["", "\n", f"{TOPIC}\nother\n", f"{TOPIC}\n\n", None])
def test_a_file_without_exactly_one_name_is_refused(
    tmp_path: Path, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    output = made_output(tmp_path / "tables", records(), batches=1, history=False)
    if text is not None:
        (tmp_path / "name").write_text(text)
    assert main(["forget", "--output", str(output), "--topic-file", str(tmp_path / "name")]) == 2
    assert "--topic-file" in caplog.text
    assert TOPIC not in caplog.text


def test_a_principal_without_its_type_is_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "name").write_text(USER)
    output = made_output(tmp_path / "tables", records(), batches=1, history=False)
    assert main(["forget", "--output", str(output), "--principal-file", str(tmp_path / "name")]) == 2
    assert "with its type" in caplog.text
    assert USER not in caplog.text


def test_one_name_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    for flags in ([], ["--topic", "x", "--topic-file", "-"], ["--topic-file", "-", "--principal-file", "-"]):
        with pytest.raises(SystemExit):
            new_parser().parse_args(["forget", "--output", "o", *flags])
    assert "--topic-file" in capsys.readouterr().err


UNSEEN = [" ", "\t", "\u00a0", "\u2003", "\ufeff"]


@pytest.mark.parametrize("unseen", UNSEEN)
@pytest.mark.parametrize("flag", ["--topic", "--principal", "--topic-file", "--principal-file"])
def test_a_name_with_what_is_not_seen_at_an_end_is_refused(
    tmp_path: Path, flag: str, unseen: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No record has such a name, so that the search for it finds nothing."""
    one = TOPIC if "topic" in flag else PRINCIPAL
    for name, place in ((f"{unseen}{one}", "begins"), (f"{one}{unseen}", "ends")):
        given = name
        if flag.endswith("-file"):
            given = str(tmp_path / "name")
            Path(given).write_text(name, encoding="utf-8")
        caplog.clear()
        with pytest.raises(ExportRefusedError, match=f"{place} with white space") as refused:
            name_of(new_parser().parse_args(["forget", "--output", str(tmp_path), flag, given]))
        assert f"U+{ord(unseen):04X}" in str(refused.value)
        assert one not in str(refused.value)


def test_what_has_expired_without_a_history_may_be_there_still(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name is in what has expired: whether it was removed later cannot be known."""
    output = made_output(tmp_path / "tables", [*records(), *removals()], history=False)
    command = ["forget", "--output", str(output), "--topic", "orders"]
    assert expire(output, time_behind(output, 1), "--execute", "--without-history") == 0
    end = Output(output).raw_start
    assert end
    for more in ([], ["--execute"]):
        caplog.clear()
        assert main([*command, *more]) == 2
        assert f"what was before offset {end} of {output} is not known" in caplog.text
        capsys.readouterr()
        main([*command, "--accept-present", *more])
        assert "a history elsewhere still has it: delete that directory\n" in capsys.readouterr().out[-100:]


def test_what_has_expired_beside_its_history_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = made_output(tmp_path / "tables", [*records(), *removals()])
    assert expire(output, time_behind(output, 1), "--execute") == 0
    assert main(["forget", "--output", str(output), "--topic", TOPIC, "--execute"]) == 0
    assert "a history elsewhere" not in capsys.readouterr().out
