"""`kraftctl-export report`: one HTML page of plots about a cluster's history.

    current_history  the tables of versions, continued if they are behind
    database         those tables in DuckDB
    queries          SQL on them, one file per part of the page; only small aggregates
    contents         the results of the queries, as plain values
    sections         turn values into figures and text, one file per section of the page; pure functions
    page             turns the sections into one self-contained file; header, draw and style are parts of it

A new section is a dataclass in `contents`, a file in `queries` that fills it, a file in `sections`, and its
line in `sections.ALL`.
"""
