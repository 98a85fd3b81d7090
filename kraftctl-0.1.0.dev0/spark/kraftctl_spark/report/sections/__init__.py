"""The sections of the page, in their order on it."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.section import Section
from kraftctl_spark.report.sections.acls import acls
from kraftctl_spark.report.sections.availability import availability
from kraftctl_spark.report.sections.churn import churn
from kraftctl_spark.report.sections.config_changes import config_changes
from kraftctl_spark.report.sections.elections import elections
from kraftctl_spark.report.sections.features import features
from kraftctl_spark.report.sections.fencing import fencing
from kraftctl_spark.report.sections.growth import growth
from kraftctl_spark.report.sections.now import now
from kraftctl_spark.report.sections.quorum import quorum
from kraftctl_spark.report.sections.quotas import quotas
from kraftctl_spark.report.sections.reassignments import reassignments
from kraftctl_spark.report.sections.record_types import record_types
from kraftctl_spark.report.sections.scram import scram
from kraftctl_spark.report.sections.timeline import timeline
from kraftctl_spark.report.sections.topics import topics

ALL: tuple[Callable[[Contents], Section], ...] = (
    now,
    timeline,
    fencing,
    elections,
    availability,
    churn,
    reassignments,
    topics,
    config_changes,
    acls,
    quotas,
    scram,
    features,
    quorum,
    growth,
    record_types,
)
