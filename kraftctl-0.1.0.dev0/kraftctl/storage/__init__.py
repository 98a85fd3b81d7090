"""Everything the controller keeps on disk, in Apache Kafka's own file formats (KIP-595, KIP-630, KIP-853).

One module holds each kind of file; `metadata_partition` opens them together, and `contradictions` compares
them at start. `log_directories` decides which directory may hold the log, and `metadata_evidence` what
counts as one. `recovery` reads the log at start, and `replacing_a_replica` has the advice for a log that
cannot be used.
"""
