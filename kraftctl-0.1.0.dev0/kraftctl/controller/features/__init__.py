"""Decides the levels of features: by UpdateFeatures, and by the records that begin an empty log.

`feature_control` raises and lowers levels, `activation` says what a new active controller writes first, and
`bootstrap_checks` whether the bootstrap records can be written.
"""
