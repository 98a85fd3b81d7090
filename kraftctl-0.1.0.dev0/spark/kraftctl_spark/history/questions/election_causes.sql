-- Every election, with what happened to a broker in the same decision of the controller: what caused it.
-- Null: a request or the balance of leaders, or files of older releases, which do not say what belongs together.
WITH decided AS (
    SELECT e.offset AS at_offset, min(e.batch_offset) AS decision
    FROM events e
    WHERE e.kind IN ('leader elected', 'unclean election') AND e.batch_offset IS NOT NULL
    GROUP BY e.offset
),
-- One record may change several things of a broker: its log directories elect nobody while it is fenced as well.
numbered AS (
    SELECT e.batch_offset AS decision, e.broker_id, e.kind,
           row_number() OVER (PARTITION BY e.batch_offset, e.broker_id
                              ORDER BY e.offset, CASE WHEN e.kind LIKE '%dirs%' THEN 1 ELSE 0 END, e.kind) AS place
    FROM events e
    WHERE e.history_table = 'brokers' AND e.batch_offset IS NOT NULL
),
of_brokers AS (
    SELECT decision, broker_id, kind AS broker_event FROM numbered WHERE place = 1
)
SELECT elections.*, CASE WHEN lost.broker_event IS NOT NULL THEN old_leader
                         WHEN won.broker_event IS NOT NULL THEN new_leader END AS broker_id,
       coalesce(lost.broker_event, won.broker_event) AS broker_event, decided.decision AS batch_offset
FROM elections
LEFT JOIN decided ON decided.at_offset = elections.offset
LEFT JOIN of_brokers lost ON lost.decision = decided.decision AND lost.broker_id = old_leader
LEFT JOIN of_brokers won ON won.decision = decided.decision AND won.broker_id = new_leader
