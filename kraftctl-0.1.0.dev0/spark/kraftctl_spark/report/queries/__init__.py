"""Fetches the contents of the page with SQL on the tables of a history; one file per part of the page.

DuckDB computes the aggregates, over millions of versions where necessary, and cuts the lists; each list keeps
its full length. Durations count only within the period.
"""
