"""What interrupted uploads have left is deleted by age, by each command that deletes such files locally."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.uploads import ATTEMPT_SECONDS_MAX, LEFTOVER_SECONDS
from tests.spark.forgotten_names import TOPIC, made_output, records
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import StoreServer
from tests.spark.stores.test_forgotten_objects import put

COMMANDS = {
    "compact": ["compact"],
    "expire": ["expire", "--raw-before", "1d", "--execute"],
    "forget": ["forget", "--topic", TOPIC, "--accept-present", "--execute"],
}
RANGE = "00000000000000000020-00000000000000000059"


@pytest.mark.parametrize("command", COMMANDS)
def test_old_uploads_go_and_young_ones_stay(
    command: str,
    store: Store,
    server: StoreServer,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Young are those that a writer on another machine, whose clock differs, may commit still."""
    client_of(monkeypatch, server.endpoint)
    put(made_output(tmp_path / "tables", records()), store, tmp_path / "copy")
    now = int(time.time())
    old, young = (
        {
            f"{table}/{before}{RANGE}-{at:08x}aaaaaaaa.parquet"
            for table, before in (("records", ""), ("records", "snapshot-"), ("history/acls", "open-"))
        }
        for at in (now - LEFTOVER_SECONDS - 60, now - ATTEMPT_SECONDS_MAX - 60)
    )
    theirs = {"records/mine.parquet"}
    for name in old | young | theirs:
        (tmp_path / "left").write_bytes(TOPIC.encode())
        store.put_file(name, tmp_path / "left")
    name, *flags = COMMANDS[command]
    assert main([name, "--output", url, *flags]) == (command == "forget")
    assert set(store.names("")) & (old | young | theirs) == young | theirs
    said = "3 files of the store may be of an upload that was interrupted: this command deletes those that"
    assert (said in capsys.readouterr().out) == (command == "forget")
