"""Writes the table of APIs into a page: `python -m kraftctl_codegen.api_table docs/apis.md`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from kraftctl.apis.api import Api, Owner, WaitsFor
from kraftctl.apis.api_table import API_TABLE
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.index import request_class

BEGIN: Final = "<!-- begin: written by `make generate` from kraftctl/apis/api_table.py -->\n"
END: Final = "<!-- end -->\n"

HEADER: Final = (
    "| key | API | versions | answered by | operation on the cluster | response waits for | forwardable |\n"
    "|--|--|--|--|--|--|--|\n"
)

OWNERS: Final = {
    Owner.RAFT: "raft",
    Owner.ACTIVE: "the active controller",
    Owner.EVERY: "every controller",
    Owner.NODE: "the node",
}

WAITS: Final = {
    WaitsFor.ALL_BEFORE: "all earlier records",
    WaitsFor.READS: "records that it reads",
    WaitsFor.NOTHING: "",
}

RIGHTS: Final = {
    code: "".join(word.capitalize() for word in name.split("_"))
    for name, code in vars(AclOperation).items()
    if isinstance(code, int)
}


def with_table(text: str) -> str:
    """Returns `text` with the rows between the two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def table() -> str:
    """Returns a table in Markdown, one row per API."""
    return HEADER + "".join(map(_row, API_TABLE.values()))


def _row(api: Api) -> str:
    request = request_class(api.key)
    assert request is not None
    cells = (
        str(api.key),
        request.NAME.removesuffix("Request"),
        str(api.lowest) if api.lowest == api.highest else f"{api.lowest}-{api.highest}",
        _owner(api),
        RIGHTS.get(api.cluster_operation, ""),
        WAITS[api.waits_for],
        "yes" if api.forwardable else "",
    )
    return "| " + " | ".join(cells) + " |\n"


def _owner(api: Api) -> str:
    if api.refusal is None:
        return OWNERS[api.owner]
    refused = f"refused: {api.refusal.name}"
    if api.refusal == Errors.ILLEGAL_SASL_STATE:
        return f"the connection, with SASL; otherwise {refused}"
    return refused


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text()))
