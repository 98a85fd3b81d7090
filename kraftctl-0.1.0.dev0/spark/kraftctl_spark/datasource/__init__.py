"""Needs Spark: the sources, and the query of the typed tables."""
