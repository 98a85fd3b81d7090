"""The views and macros as files. Trino has the views alone: its SQL has no functions that return tables."""

from __future__ import annotations

import re

from kraftctl_spark.history.questions.dialects import DIALECTS, EXAMPLES, trino_table
from kraftctl_spark.history.questions.macros import (
    AUDIT_LOG,
    AUDIT_LOG_PLACE,
    HISTORY_PLACE,
    MACROS,
    RECORDS,
    TABLES_PLACE,
    Macro,
    argument,
    macros,
    with_arguments,
    with_audit_log,
)

_VARIABLE = re.compile(r"GETVARIABLE\('(\w+)'\)", re.IGNORECASE)
_SPARK_TYPES = {"int32": "INT", "int64": "BIGINT", "string": "STRING"}
_DUCKDB_TYPES = {"int32": "INTEGER", "int64": "BIGINT", "string": "VARCHAR"}


def macro_file(dialect: str, name: str) -> str:
    """Returns the statements of one of the two files: the tables, then the macros."""
    statement = {"duckdb": _in_duckdb, "spark": _in_spark, "trino": _in_trino}[dialect]
    if name == MACROS:
        tables, found = DIALECTS[dialect].tables(f"{HISTORY_PLACE}/"), macros()
        tables = "".join(line for line in tables.splitlines(True) if not line.startswith("--"))
        tables += _BESIDE[dialect][0]()
        comment = "The tables of a history, a view of each question, and a macro where it has arguments."
    else:
        tables, found = _BESIDE[dialect][1](), with_audit_log()
        comment = "The audit logs of controllers, and who asked for what."
    return "\n".join([f"-- {comment}", tables, *filter(None, map(statement, found))])


def _in_duckdb(macro: Macro) -> str:
    query = _VARIABLE.sub(lambda found: _duckdb_argument(found[1]), DIALECTS["duckdb"].query(macro.query))
    if not macro.parameters:
        return f"CREATE OR REPLACE VIEW {macro.name} AS\n{query};\n"
    names = ", ".join(map(argument, macro.parameters))
    body = f"(\n{query}\n)" if macro.is_scalar else f"TABLE\n{query}"
    return f"CREATE OR REPLACE MACRO {macro.name}({names}) AS {body};\n"


def _duckdb_argument(parameter: str) -> str:
    """Returns the argument, which may be a text of a time."""
    name = argument(parameter)
    return f"CAST({name} AS TIMESTAMPTZ)" if EXAMPLES[parameter][0] == "TIMESTAMP" else name


def _in_spark(macro: Macro) -> str:
    query = with_arguments(macro.query)
    if not macro.parameters:
        return f"CREATE OR REPLACE TEMPORARY VIEW {macro.name} AS\n{query};\n"
    names = ", ".join(f"{argument(name)} {EXAMPLES[name][0]}" for name in macro.parameters)
    body = f"RETURNS BIGINT RETURN (\n{query}\n)" if macro.is_scalar else f"RETURNS TABLE RETURN\n{query}"
    return f"CREATE OR REPLACE TEMPORARY FUNCTION {macro.name}({names}) {body};\n"


def _in_trino(macro: Macro) -> str:
    if macro.parameters:
        return ""
    return f"CREATE OR REPLACE VIEW {macro.name} AS\n{DIALECTS['trino'].query(macro.query)};\n"


def _duckdb_records() -> str:
    return (
        "CREATE OR REPLACE VIEW records AS SELECT * FROM "
        f"read_parquet('{TABLES_PLACE}/records/*.parquet', hive_partitioning = false);\n"
    )


def _duckdb_audit_log() -> str:
    columns = ", ".join(f"{name}: '{_DUCKDB_TYPES[kind]}'" for name, kind in AUDIT_LOG.items())
    return (
        "CREATE OR REPLACE VIEW audit_log AS SELECT * FROM "
        f"read_json('{AUDIT_LOG_PLACE}', format = 'newline_delimited', ignore_errors = true,"
        f" columns = {{{columns}}});\n"
    )


def _spark_records() -> str:
    place = f"{TABLES_PLACE}/records"
    return f"CREATE OR REPLACE TEMPORARY VIEW records USING parquet OPTIONS (path '{place}');\n"


def _spark_audit_log() -> str:
    columns = ", ".join(f"{name} {_SPARK_TYPES[kind]}" for name, kind in AUDIT_LOG.items())
    return (
        f"CREATE OR REPLACE TEMPORARY VIEW audit_log ({columns}) "
        f"USING json OPTIONS (path '{AUDIT_LOG_PLACE}');\n"
    )


def _trino_records() -> str:
    return trino_table("records", RECORDS, f"{TABLES_PLACE}/records")


def _trino_audit_log() -> str:
    return trino_table("audit_log", AUDIT_LOG, AUDIT_LOG_PLACE, "JSON")


_BESIDE = {
    "duckdb": (_duckdb_records, _duckdb_audit_log),
    "spark": (_spark_records, _spark_audit_log),
    "trino": (_trino_records, _trino_audit_log),
}
"""The tables beside the history: the records, and the audit logs."""
