"""Needs Spark: the sources, and the queries of the wide table and of the typed tables."""
