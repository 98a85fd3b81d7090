"""Alters, describes and validates dynamic configurations and client quotas.

`node_configs` has the dynamic configs that this controller obeys itself, and `validate_configs` decides
which values are accepted.
"""
