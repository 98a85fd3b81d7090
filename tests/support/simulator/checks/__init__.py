"""Invariants of a simulated cluster are checked after every step and before every effect."""
