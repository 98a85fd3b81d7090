"""Runs real Kafka and kraftctl as child processes, for `kraftctl dev` and the interoperability tests."""
