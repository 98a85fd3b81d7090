"""The shipped SQL in the release of DuckDB before ours: the same answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pytest

from kraftctl_spark.history.questions.dialects import DUCKDB, EXAMPLES, TABLES
from kraftctl_spark.history.questions.files import text_of
from kraftctl_spark.history.questions.questions import parameters_of, sources
from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import in_duckdb
from tests.spark.history.asked_macros import QUESTIONS, about, in_plain_numbers, with_macros, written
from tests.spark.history.test_versions import Tables, gappy, history

__all__ = ["gappy", "history"]

OLDER = "duckdb>=1.5,<1.6"

ASK = """
import sys
from pathlib import Path

import duckdb
import pyarrow.ipc

sql, answers = Path(sys.argv[1]), Path(sys.argv[2])
connection = duckdb.connect()
for path in sorted(sql.glob("*.sql")):
    for statement in path.read_text().split(";\\n-- then\\n"):
        found = connection.sql(statement)
    if found is not None:
        table = found.to_arrow_table()
        with pyarrow.ipc.new_file(answers / (path.stem + ".arrow"), table.schema) as writer:
            writer.write_table(table)
print(duckdb.__version__)
"""


@pytest.mark.long
def test_an_older_duckdb_gives_the_same_answers(gappy: Tables, tmp_path: Path) -> None:
    older, sql, answers = (tmp_path / name for name in ("older", "sql", "answers"))
    for directory in (older, sql, answers):
        directory.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(older), OLDER]
    subprocess.run(install, check=True, capture_output=True, timeout=120)
    asked = ["SET TimeZone = 'UTC'", f"SET file_search_path = '{gappy.versions}'"]
    (sql / "0.sql").write_text(";\n-- then\n".join([*asked, text_of("duckdb", TABLES)]))
    (tmp_path / "audit.log").write_text("")
    audited = ("--audit-log", str(tmp_path / "audit.log"))
    named = written(gappy.raw, gappy.versions, tmp_path, "duckdb", *audited)
    (sql / "1.sql").write_text(named.read_text())
    as_of = gappy.known[0][-1]
    documented = [about(question, {"4000": str(as_of)}) for question in QUESTIONS]
    for number, question in enumerate(documented):
        (sql / f"named-{number}.sql").write_text(question)
    values = {name: value for name, (_, value) in EXAMPLES.items()}
    values |= {"as_of": as_of, "from_offset": as_of // 2, "to_offset": as_of, "batch_offset": as_of}
    for question in sources():
        assigned = [DUCKDB.assigned(name, values[name]).rstrip(";") for name in parameters_of(question)]
        (sql / f"{question}.sql").write_text(";\n-- then\n".join([*assigned, text_of("duckdb", question)]))
    environment = {**os.environ, "PYTHONPATH": str(older)}
    command = [sys.executable, "-c", ASK, str(sql), str(answers)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1.5."), done.stdout
    with in_duckdb(gappy.versions) as here:
        for question in sources():
            with pa.ipc.open_file(answers / f"{question}.arrow") as reader:
                found = reader.read_all().to_pylist()
            parameters = {name: values[name] for name in parameters_of(question)}
            compare_rows(question, found, here.rows(question, **parameters))
    with with_macros(
        gappy.raw, gappy.versions, tmp_path, "--audit-log", str(tmp_path / "audit.log")
    ) as macros:
        for number, question in enumerate(documented):
            with pa.ipc.open_file(answers / f"named-{number}.arrow") as reader:
                found = in_plain_numbers(reader.read_all().to_pylist())
            compare_rows(question, found, in_plain_numbers(macros.rows(question)))
