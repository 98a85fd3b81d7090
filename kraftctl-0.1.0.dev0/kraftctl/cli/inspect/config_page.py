"""The keys of a properties file as text, as JSON, and as the page docs/reference/configs.md."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from kraftctl.cli.inspect.config_rows import NOT_USED, ConfigRow

HEAD: Final = """# Keys of a controller's properties file

`kraftctl inspect configs` prints this table (`--output json` for programs), and `make generate` writes this
page.

* Every key that Kafka defines for the file of a node is checked by its type and range, also one that a
  controller does not use: the log names those once at the start. It does not define the properties of a
  JVM, those of an authorizer, and `sasl.oauthbearer.header.urlencode`, which is checked where it has an
  effect. A key that Kafka does not know has a warning, which `--strict` makes an error. An unknown
  `kraftctl.` key is an error always.
* The definitions are those of Kafka 4.4.0. A key that 4.3.1 does not know has *since 4.4* in the last column.
* *default* is Kafka's, and kraftctl's for a key of its own. A value is written as `code`; *empty* and *none*
  say that it is empty, or that there is none.
* *values* is what is allowed: `1..` is a number of at least one, an empty cell any value of the type.
* *dynamic* says whether `kafka-configs` changes the key while a controller runs: of a `node`, for all
  nodes of the `cluster`, or of a `listener` of a node, with the prefix `listener.name.LISTENER.`; an
  empty cell is: only by a restart ([details](../operations/dynamic-configs.md)). *dynamic only* is a key
  that brokers obey as a dynamic config; in a file it has no effect and is not checked, as in Kafka.
* Keys of SSL and SASL may have the prefix of a listener in the file, and `sasl.jaas.config` and those of
  OAUTHBEARER the one of a mechanism after it, as in Kafka.
* A PASSWORD is secret: it is shown nowhere, and may come from [a
  provider](../security.md#values-that-are-kept-elsewhere).
"""

NOT_USED_TEXT: Final = """These are keys of Kafka's, most of them for brokers and for a JVM. One file can
serve both: they have no effect on a controller of kraftctl, for the reason in the last column."""


def text_table(rows: Iterable[ConfigRow]) -> str:
    """Returns a line for each key: name, type, default, values, whether it is dynamic and used, meaning."""
    head = ("KEY", "TYPE", "DEFAULT", "VALUES", "DYNAMIC", "USED", "MEANING")
    lines = [
        (
            row.name,
            row.type,
            "-" if row.default is None else row.default or "empty",
            row.values or "-",
            row.dynamic or "-",
            _yes(row.used),
            row.meaning,
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (head, *lines)) for column in range(len(head) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=True)), line[-1]])
        for line in (head, *lines)
    )


def json_table(rows: Iterable[ConfigRow]) -> str:
    """Returns an array with an object for each key."""
    return json.dumps([dataclasses.asdict(row) for row in rows], indent=2)


def page(rows: Iterable[ConfigRow]) -> str:
    """Returns the page as Markdown."""
    parts = [HEAD]
    for subject, of_subject in groupby(rows, key=lambda row: row.subject):
        lines = [f"## {subject}", ""]
        if subject == NOT_USED:
            lines += [NOT_USED_TEXT, ""]
        last = "why" if subject == NOT_USED else "meaning"
        lines += [f"| key | type | default | values | dynamic | {last} |", "|---|---|---|---|---|---|"]
        parts.append("\n".join([*lines, *map(_row, of_subject), ""]))
    return "\n".join(parts)


def _row(row: ConfigRow) -> str:
    cells = (f"`{row.name}`", row.type, _default(row), row.values, row.dynamic, row.meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(row: ConfigRow) -> str:
    if row.default is None:
        return "none"
    return f"`{row.default}`" if row.default else "empty"


def _yes(used: bool) -> str:
    return "yes" if used else "no"
