"""Simulated machines run controllers on one virtual clock and one network, with all checks around them."""
