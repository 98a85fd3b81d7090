"""Versions of everything in the metadata, each from one offset to another, from the typed tables."""

DIRECTORY = "history"
"""Of the versions, in the directory of the typed tables, unless another one is named."""
