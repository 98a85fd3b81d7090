"""Creates, changes and deletes topics and partitions, by one module per operation.

`isr_eligibility` decides who may join an ISR, `leader_acceptor` who may lead, and `partition_change_builder`
makes the record of a change. `broker_transitions`, `offline_directories` and `leader_elections` change many
partitions slice by slice; `memberships` and `partition_walk` find them.
"""
