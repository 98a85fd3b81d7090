-- The tables of a history in a schema of the Hive connector, after USE hive.history. The catalog
-- needs hive.non-managed-table-writes-enabled=true, hive.parquet.time-zone=UTC and
-- hive.timestamp-precision=MICROSECONDS. Write the place of the history as Trino sees it.
CREATE TABLE topics (
    "topic_id" VARCHAR,
    "topic" VARCHAR,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/topics');
CREATE TABLE partitions (
    "topic_id" VARCHAR,
    "partition_id" INTEGER,
    "topic" VARCHAR,
    "leader" INTEGER,
    "leader_epoch" INTEGER,
    "partition_epoch" INTEGER,
    "leader_recovery_state" INTEGER,
    "replicas" ARRAY(INTEGER),
    "isr" ARRAY(INTEGER),
    "adding_replicas" ARRAY(INTEGER),
    "removing_replicas" ARRAY(INTEGER),
    "elr" ARRAY(INTEGER),
    "last_known_elr" ARRAY(INTEGER),
    "directories" ARRAY(VARCHAR),
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/partitions');
CREATE TABLE brokers (
    "broker_id" INTEGER,
    "broker_epoch" BIGINT,
    "state" VARCHAR,
    "fenced" BOOLEAN,
    "in_controlled_shutdown" BOOLEAN,
    "incarnation_id" VARCHAR,
    "rack" VARCHAR,
    "log_dirs" ARRAY(VARCHAR),
    "cordoned_log_dirs" ARRAY(VARCHAR),
    "end_points" ARRAY(ROW("name" VARCHAR, "host" VARCHAR, "port" INTEGER, "security_protocol" INTEGER)),
    "features" ARRAY(ROW("name" VARCHAR, "min_supported_version" INTEGER, "max_supported_version" INTEGER)),
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/brokers');
CREATE TABLE controllers (
    "controller_id" INTEGER,
    "incarnation_id" VARCHAR,
    "zk_migration_ready" BOOLEAN,
    "end_points" ARRAY(ROW("name" VARCHAR, "host" VARCHAR, "port" INTEGER, "security_protocol" INTEGER)),
    "features" ARRAY(ROW("name" VARCHAR, "min_supported_version" INTEGER, "max_supported_version" INTEGER)),
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/controllers');
CREATE TABLE configs (
    "resource_type" VARCHAR,
    "resource_name" VARCHAR,
    "name" VARCHAR,
    "topic_id" VARCHAR,
    "value" VARCHAR,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/configs');
CREATE TABLE acls (
    "id" VARCHAR,
    "resource_type" VARCHAR,
    "resource_name" VARCHAR,
    "pattern_type" VARCHAR,
    "principal" VARCHAR,
    "host" VARCHAR,
    "operation" VARCHAR,
    "permission" VARCHAR,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/acls');
CREATE TABLE quotas (
    "entity" ARRAY(ROW("entity_type" VARCHAR, "entity_name" VARCHAR)),
    "key" VARCHAR,
    "value" DOUBLE,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/quotas');
CREATE TABLE features (
    "name" VARCHAR,
    "level" INTEGER,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/features');
CREATE TABLE scram_credentials (
    "user" VARCHAR,
    "mechanism" VARCHAR,
    "iterations" INTEGER,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/scram_credentials');
CREATE TABLE delegation_tokens (
    "token_id" VARCHAR,
    "owner" VARCHAR,
    "requester" VARCHAR,
    "renewers" ARRAY(VARCHAR),
    "issue_time" TIMESTAMP(6),
    "max_time" TIMESTAMP(6),
    "expiration_time" TIMESTAMP(6),
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/delegation_tokens');
CREATE TABLE producer_ids (
    "next_producer_id" BIGINT,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/producer_ids');
CREATE TABLE quorum (
    "leader_id" INTEGER,
    "leader_epoch" INTEGER,
    "voters" ARRAY(INTEGER),
    "kraft_version" INTEGER,
    "valid_from_offset" BIGINT,
    "valid_from_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "batch_offset" BIGINT,
    "valid_to_offset" BIGINT,
    "valid_to_time" TIMESTAMP(6),
    "ended_by" VARCHAR,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/quorum');
CREATE TABLE events (
    "offset" BIGINT,
    "time" TIMESTAMP(6),
    "batch_offset" BIGINT,
    "kind" VARCHAR,
    "subject" VARCHAR,
    "before" VARCHAR,
    "after" VARCHAR,
    "history_table" VARCHAR,
    "topic_id" VARCHAR,
    "partition_id" INTEGER,
    "broker_id" INTEGER,
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/events');
CREATE TABLE known_ranges (
    "start_offset" BIGINT,
    "start_time" TIMESTAMP(6),
    "from_snapshot" BOOLEAN,
    "end_offset" BIGINT,
    "end_time" TIMESTAMP(6),
    "cluster_id" VARCHAR
) WITH (format = 'PARQUET', external_location = 'file:///data/history/known_ranges');
