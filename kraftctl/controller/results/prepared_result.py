"""A result prepared for the log: every record is encoded and checked before the first is appended.

A record that cannot be encoded fails its own request, and nothing is half written.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.batch_limits import batch_ends, why_batch_too_large
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork, SoftChange
from kraftctl.controller.results.feature_levels import feature_level
from kraftctl.controller.results.record_checks import RecordEncoder
from kraftctl.controller.results.record_notices import record_notices
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion


@mypyc_attr(acyclic=True, free_list_len=1)
class PreparedBatch:
    """Records that are appended together, and their encoded values in the same order."""

    def __init__(self, records: list[RecordAndVersion], values: list[bytes]) -> None:
        self.records = records
        self.values = values


NO_BATCHES: Final[list[PreparedBatch]] = []
NO_NOTICES: Final[list[str]] = []
"""Most results are heartbeats without records: no lists are made for them."""


@mypyc_attr(acyclic=True, free_list_len=1)
class PreparedResult:
    """A result that is ready: append and replay `batches`, then answer with `response`.

    `notices` are lines for the log about the records, `refusals` about reasons that the response has no
    room for; `response` is None for timer work, and while it waits for the `rest`.
    """

    def __init__(
        self,
        batches: list[PreparedBatch],
        response: Message | None,
        soft_change: SoftChange | None,
        notices: list[str],
        refusals: list[str],
        rest: SlicedWork | None = None,
    ) -> None:
        self.batches = batches
        self.response = response
        self.soft_change = soft_change
        self.notices = notices
        self.refusals = refusals
        self.rest = rest

    @property
    def changes_anything(self) -> bool:
        """Whether records are written or soft state is changed."""
        return len(self.batches) > 0 or self.soft_change is not None

    def why_too_large(self) -> str | None:
        """Why the log cannot take a batch of the result; None if it can."""
        for batch in self.batches:
            reason = why_batch_too_large(batch.values)
            if reason is not None:
                return reason
        return None


def prepare_result(image: MetadataImage, result: ControllerResult) -> PreparedResult:
    """Raises whatever encoding a record raises. `image` must not change before the records are appended.

    An atomic result is one batch, however large, and so is a record: the caller refuses what is too large.
    """
    records = result.records
    if not records:
        soft_change, refusals, rest = result.soft_change, result.refusals, result.rest
        return PreparedResult(NO_BATCHES, result.response, soft_change, NO_NOTICES, refusals, rest)
    values = encode_records(records, image.features.metadata_version)
    batches: list[PreparedBatch] = []
    start = 0
    for end in [len(values)] if result.is_atomic else batch_ends(values):
        batches.append(PreparedBatch(records[start:end], values[start:end]))
        start = end
    notices = record_notices(image, records)
    return PreparedResult(batches, result.response, result.soft_change, notices, result.refusals, result.rest)


def encode_records(records: list[RecordAndVersion], metadata_version: int) -> list[bytes]:
    """The checked values. `metadata_version` is the level before the first record, 0 in an empty log."""
    encoder = RecordEncoder(metadata_version or feature_level(records, features.METADATA_VERSION))
    values: list[bytes] = []
    for entry in records:
        values.append(encoder.encode(entry))
        record = entry.record
        if type(record) is FeatureLevelRecord and record.name == features.METADATA_VERSION:
            encoder.follow_level(record.feature_level)
    return values
