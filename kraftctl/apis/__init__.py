"""The APIs that this controller serves, one row each: everything decided from the header of a request.

`api_table` says which versions are served, to whom, by which part, and what a response waits for.
`request_size` says how long a request may be, and how much memory it may take.
"""
