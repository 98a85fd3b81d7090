"""Runs real Kafka and kraftctl as child processes, for `kraftctl dev` and the interoperability tests.

`cluster` starts and stops a cluster, `kafka_distribution` fetches Kafka, and `tools` runs Kafka's commands.
"""
