"""Dynamic configurations and client quotas are altered, described and validated here.

`node_configs` says which dynamic configs this controller obeys itself, and `validate_configs` decides which
values are accepted.
"""
