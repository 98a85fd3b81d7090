"""The table of metrics as the page spark/METRICS.md: `python -m kraftctl_spark.monitoring.metric_page`."""

from __future__ import annotations

from typing import Final

from kraftctl_security.exposition import markdown_rows
from kraftctl_spark.monitoring.metric_table import METRICS

HEAD: Final = """# Metrics of the exporter

`make generate` writes this page. `kraftctl-export run --metrics-listener http://127.0.0.1:9404` serves
these at `/metrics`, in Prometheus' text format, until the export ends; there is no listener without the
flag. It has neither SSL nor authentication, and shows names of tables and the id of the cluster: listen
beyond this machine in a trusted network only.

An export that fails ends, and its series with it: alert on `up`, on
`time() - kraftctl_export_last_commit_timestamp_seconds` above some intervals, and on any unknown records.
`kraftctl-export status --json` has more, from the tables alone.

"""


def page() -> str:
    """Returns the page as Markdown."""
    return HEAD + "\n".join([*markdown_rows(METRICS), ""])


if __name__ == "__main__":
    print(page(), end="")
