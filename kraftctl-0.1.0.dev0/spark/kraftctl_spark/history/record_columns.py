"""The typed tables that have a part in the state, with the columns that the stage takes."""

from __future__ import annotations

from kraftctl_protocol.record_types import RECORD_TYPES
from kraftctl_spark.rows.record_names import column_name

COLUMNS: dict[str, tuple[str, ...]] = {
    **{column_name(row.message): row.fields for row in RECORD_TYPES if row.table},
    "leader_change_message": ("leader_id", "log_epoch", "voters"),
    "voters_record": ("voters",),
    "kraft_version_record": ("kraft_version",),
}
"""The columns; of control records only those about the quorum."""
