-- The tables of a history, after SET history = /data/history. Spark lists their files once:
-- run this again after a batch, which adds files and deletes those that it replaces.
CREATE OR REPLACE TEMPORARY VIEW topics USING parquet OPTIONS (path '${history}/topics');
CREATE OR REPLACE TEMPORARY VIEW partitions USING parquet OPTIONS (path '${history}/partitions');
CREATE OR REPLACE TEMPORARY VIEW brokers USING parquet OPTIONS (path '${history}/brokers');
CREATE OR REPLACE TEMPORARY VIEW controllers USING parquet OPTIONS (path '${history}/controllers');
CREATE OR REPLACE TEMPORARY VIEW configs USING parquet OPTIONS (path '${history}/configs');
CREATE OR REPLACE TEMPORARY VIEW acls USING parquet OPTIONS (path '${history}/acls');
CREATE OR REPLACE TEMPORARY VIEW quotas USING parquet OPTIONS (path '${history}/quotas');
CREATE OR REPLACE TEMPORARY VIEW features USING parquet OPTIONS (path '${history}/features');
CREATE OR REPLACE TEMPORARY VIEW scram_credentials USING parquet OPTIONS (path '${history}/scram_credentials');
CREATE OR REPLACE TEMPORARY VIEW delegation_tokens USING parquet OPTIONS (path '${history}/delegation_tokens');
CREATE OR REPLACE TEMPORARY VIEW producer_ids USING parquet OPTIONS (path '${history}/producer_ids');
CREATE OR REPLACE TEMPORARY VIEW quorum USING parquet OPTIONS (path '${history}/quorum');
CREATE OR REPLACE TEMPORARY VIEW events USING parquet OPTIONS (path '${history}/events');
CREATE OR REPLACE TEMPORARY VIEW known_ranges USING parquet OPTIONS (path '${history}/known_ranges');
