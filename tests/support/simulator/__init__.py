"""Clusters on one virtual clock, with lossy networks and forgetful disks; invariants run all the time."""
