"""`kraftctl quorum`: what `kafka-metadata-quorum` does, without a JVM, and the way back after a lost disk.

`describe` and `quorum_survey` ask nodes what they know. `replace_voter` carries out the steps of
`replacement_steps`, which holds the order in which a lost voter is replaced.
"""
