"""The sections of the page, in their order on it."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.section import Section
from kraftctl_spark.report.sections.availability import availability
from kraftctl_spark.report.sections.churn import churn
from kraftctl_spark.report.sections.config_changes import config_changes
from kraftctl_spark.report.sections.elections import elections
from kraftctl_spark.report.sections.fencing import fencing
from kraftctl_spark.report.sections.growth import growth
from kraftctl_spark.report.sections.quorum import quorum
from kraftctl_spark.report.sections.reassignments import reassignments
from kraftctl_spark.report.sections.record_types import record_types

ALL: tuple[Callable[[Contents], Section], ...] = (
    fencing,
    elections,
    churn,
    availability,
    config_changes,
    growth,
    reassignments,
    quorum,
    record_types,
)
