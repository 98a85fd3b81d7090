"""`kraftctl-export report`: one HTML page of plots about a cluster's history.

    queries   SQL on the views of `kraftctl_spark.views`, small sums only
    contents  what the queries find, as plain values
    sections  values to figures and words, one section of the page to a file; pure functions
    page      sections to one self-contained file

A new section is a dataclass in `contents`, a query that fills it, a file in `sections`, and its line in
`sections.ALL`.
"""
