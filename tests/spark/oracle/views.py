"""Rows of the oracle's views: of all history views, and of the state and its differences at any point."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tests.spark.oracle import configs, keyed, partitions, topics
from tests.spark.oracle.brokers import brokers, fencing_timeline
from tests.spark.oracle.difference import difference
from tests.spark.oracle.elections import elections, elections_per_broker
from tests.spark.oracle.growth import growth_per_hour
from tests.spark.oracle.isr import isr_changes, isr_churn_per_hour
from tests.spark.oracle.outages import availability_per_hour, outages, partition_availability
from tests.spark.oracle.quorum import quorum_changes
from tests.spark.oracle.reassignments import reassignments
from tests.spark.oracle.tables import open_tables

STATE_VIEWS = {
    "topics": topics.topics,
    "partitions": partitions.partitions,
    "brokers": brokers,
    "controllers": keyed.controllers,
    "configs": configs.configs,
    "acls": keyed.acls,
    "quotas": keyed.quotas,
    "features": keyed.features,
    "scram_credentials": keyed.scram_credentials,
    "delegation_tokens": keyed.delegation_tokens,
    "producer_ids": keyed.producer_ids,
}

HISTORY_VIEWS = {
    "topic_history": topics.topic_history,
    "partition_history": partitions.partition_history,
    "isr_changes": isr_changes,
    "isr_churn_per_hour": isr_churn_per_hour,
    "fencing_timeline": fencing_timeline,
    "elections": elections,
    "elections_per_broker": elections_per_broker,
    "outages": outages,
    "partition_availability": partition_availability,
    "availability_per_hour": availability_per_hour,
    "config_audit": configs.config_audit,
    "growth_per_hour": growth_per_hour,
    "reassignments": reassignments,
    "quorum_changes": quorum_changes,
}


class Oracle:
    """Over the tables of a directory, registered under names of their own."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self._spark = spark
        self._log = open_tables(spark, directory, "oracle_")

    def history(self, view: str) -> DataFrame:
        return self._spark.sql(HISTORY_VIEWS[view](self._log))

    def state(self, view: str, offset: int) -> DataFrame:
        return self._spark.sql(STATE_VIEWS[view](self._log.cut(offset)))

    def difference(self, before: int, after: int) -> DataFrame:
        return self._spark.sql(difference(STATE_VIEWS, self._log.cut(before), self._log.cut(after)))
