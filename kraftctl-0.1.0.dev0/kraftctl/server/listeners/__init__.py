"""Listeners bind sockets, accept connections within their quotas, and close idle ones.

`listener` has all listeners of a controller, `connection_quotas` decides how many connections there may be,
`descriptors` how many the limit of open files allows, and `early_start` which listeners wait for the ACLs.
"""
