"""`kraftctl quorum` does what `kafka-metadata-quorum` does, without a JVM, and replaces a voter with a lost
disk.

`describe` and `quorum_survey` ask nodes about the quorum. `replace_voter` carries out the steps of
`replacement_steps`, which has the order in which a lost voter is replaced.
"""
