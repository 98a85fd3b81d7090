"""Makes versions of everything in the metadata, each from one offset to another, from the typed tables."""

from kraftctl_spark.tables import HISTORY_DIRECTORY as DIRECTORY

__all__ = ["DIRECTORY"]
