"""Versions of everything in the metadata, each from one offset to another, from the typed tables."""
