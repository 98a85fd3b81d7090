"""Tests of what the simulator itself is made of."""
