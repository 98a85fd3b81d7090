"""`kraftctl health` says whether a quorum and its brokers are well, as all controllers see it together.

`collection` asks controllers and their listeners for probes, `verdict` is a function of what was collected.
"""
