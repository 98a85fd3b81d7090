"""Clusters on one virtual clock, with lossy networks and disks that lose writes; invariants are checked."""
