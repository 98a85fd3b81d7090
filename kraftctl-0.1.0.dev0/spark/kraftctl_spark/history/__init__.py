"""Makes versions of everything in the metadata, each from one offset to another, from the typed tables."""

DIRECTORY = "history"
"""The directory of the versions in that of the typed tables, unless another one is named."""
