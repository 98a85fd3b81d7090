"""`kraftctl-export report`: one HTML page of plots about a cluster's history.

    queries   SQL on the views of `kraftctl_spark.views`; only small aggregates
    contents  the results of the queries, as plain values
    sections  turn values into figures and text, one file per section of the page; pure functions
    page      turns the sections into one self-contained file

A new section is a dataclass in `contents`, a query that fills it, a file in `sections`, and its line in
`sections.ALL`.
"""
