"""State and history of a cluster in Spark SQL, over the exported tables: see VIEWS.md."""

from kraftctl_spark.views.log import UnknownPointError
from kraftctl_spark.views.registered_views import NameTakenError
from kraftctl_spark.views.registration import (
    HISTORY_VIEWS,
    STATE_VIEWS,
    diff,
    register_views,
    state_at,
)
from kraftctl_spark.views.tables import register_tables

__all__ = [
    "HISTORY_VIEWS",
    "STATE_VIEWS",
    "NameTakenError",
    "UnknownPointError",
    "diff",
    "register_tables",
    "register_views",
    "state_at",
]
