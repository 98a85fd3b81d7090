"""Checks that the bootstrap records can be written and replayed, before the log begins with them.

They are read from a file. A record that is found to be impossible when it is already in the log would stop
every controller, at every start.
"""

from __future__ import annotations

from kraftctl.controller.committed_records import DOES_NOT_FIT, why_not_applied
from kraftctl.controller.features.activation_records import records_for_empty_log
from kraftctl.controller.results.prepared_result import encode_records
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.metadata_record import RecordAndVersion


def why_bootstrap_unfit(records: list[RecordAndVersion], min_insync_replicas: int) -> str | None:
    """Returns the first record that cannot be one of the first of a log; None when all can."""
    result = records_for_empty_log(records, transaction_open=False, min_insync_replicas=min_insync_replicas)
    image = MetadataImage()
    try:
        encode_records(result.records, 0)
    except DOES_NOT_FIT as error:
        return str(error)
    for offset, entry in enumerate(result.records):
        try:
            replay(image, entry.record, offset)
        except DOES_NOT_FIT as error:
            return f"a {entry.record.NAME} that does not fit what is before it: {why_not_applied(error)}"
    return None
