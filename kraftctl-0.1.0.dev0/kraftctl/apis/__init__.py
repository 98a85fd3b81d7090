"""The APIs that this controller serves, one row each: everything decided from the header of a request.

`api_table` has the versions that are served, to whom, by which part, and what a response waits for.
`request_size` has the limits of a request in bytes and in memory.
"""
