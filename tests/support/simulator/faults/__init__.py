"""A plan injects faults into a cluster, at random or aimed at a rule, and an operator repairs it."""
