-- The tables of a history: in its directory, or after SET file_search_path = '/data/history'.
CREATE OR REPLACE VIEW topics AS SELECT * FROM read_parquet('topics/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW partitions AS SELECT * FROM read_parquet('partitions/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW brokers AS SELECT * FROM read_parquet('brokers/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW controllers AS SELECT * FROM read_parquet('controllers/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW configs AS SELECT * FROM read_parquet('configs/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW acls AS SELECT * FROM read_parquet('acls/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW quotas AS SELECT * FROM read_parquet('quotas/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW features AS SELECT * FROM read_parquet('features/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW scram_credentials AS SELECT * FROM read_parquet('scram_credentials/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW delegation_tokens AS SELECT * FROM read_parquet('delegation_tokens/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW producer_ids AS SELECT * FROM read_parquet('producer_ids/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW quorum AS SELECT * FROM read_parquet('quorum/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW events AS SELECT * FROM read_parquet('events/*.parquet', hive_partitioning = false);
CREATE OR REPLACE VIEW known_ranges AS SELECT * FROM read_parquet('known_ranges/*.parquet', hive_partitioning = false);
CREATE OR REPLACE MACRO size(list) AS len(list);
CREATE OR REPLACE MACRO array_except(a, b) AS list_filter(a, lambda x: NOT list_contains(b, x));
CREATE OR REPLACE MACRO unix_seconds(time) AS epoch_us(time) // 1000000;
CREATE OR REPLACE MACRO timestamp_seconds(seconds) AS to_timestamp(seconds);
